#include "rml/ops/convolution.h"

#include "rml/core/check.h"

namespace rml::ops {

using ir::Dim;
using ir::Dims;
using ir::Ints;

std::vector<ir::AttrDef> ConvAttributes() {
  return {{"strides", Ints()}, {"pads", Ints()}, {"dilation", Ints()}, {"groups", 1}};
}

core::Expected<ConvGeometry> GeometryOf(const ir::OpCall& call, int spatial) {
  ConvGeometry g;
  g.spatial = spatial;
  const auto take = [&](std::string_view name, size_t count, int64_t fallback, int64_t least,
                        Ints* out) -> core::Status {
    *out = call.ints(name);
    if (out->empty()) out->assign(count, fallback);
    if (out->size() != count)
      return core::InvalidArgument(name, " has ", out->size(), " numbers, expected ", count);
    for (const int64_t value : *out) {
      if (value < least || value > INT32_MAX)
        return core::InvalidArgument(name, " has ", value, ", expected at least ", least);
    }
    return {};
  };
  const auto axes = static_cast<size_t>(spatial);
  RML_TRY(take("strides", axes, 1, 1, &g.strides));
  RML_TRY(take("dilation", axes, 1, 1, &g.dilation));
  RML_TRY(take("pads", 2 * axes, 0, 0, &g.pads));
  g.groups = call.integer("groups");
  if (g.groups < 1) return core::InvalidArgument("groups is ", g.groups);
  return g;
}

core::Expected<Dims> ConvOutput(const ConvGeometry& g, const Dims& x, const Dims& w) {
  if (!(x[1] == w[1] * Dim(g.groups))) {
    return core::InvalidArgument("x has ", x[1].ToString(), " channels, and w takes ",
                                 w[1].ToString(), " for each of ", g.groups, " groups");
  }
  if (!ExactDiv(w[0], g.groups).valid()) {
    return core::InvalidArgument(w[0].ToString(), " outputs are no multiple of ", g.groups,
                                 " groups");
  }
  Dims y = {x[0], w[0]};
  for (int s = 0; s < g.spatial; ++s) {
    const auto i = static_cast<size_t>(s);
    const Dim reach = Dim(g.dilation[i]) * (w[s + 2] - 1) + 1;
    const Dim padded = x[s + 2] + g.pads[2 * i] + g.pads[2 * i + 1];
    const Dim room = padded - reach;
    if (!w[s + 2].valid() || w[s + 2] == Dim(0) || !room.valid()) {
      return core::InvalidArgument("a window that reaches over ", reach.ToString(),
                                   " does not fit axis ", s + 2, " of ", padded.ToString(),
                                   ", padding included");
    }
    y.Append(FloorDiv(room, g.strides[i]) + 1);
  }
  return y;
}

core::Expected<ir::Axes> ConvAxes(const ir::OpCall& call, int64_t groups, int x, int w, int y) {
  const auto inputs = static_cast<size_t>(call.inputs());
  // Operand numbers: inputs first, then the output.
  const auto axis = [&](std::string_view name, std::initializer_list<std::pair<int, int>> places) {
    ir::NamedAxis named;
    named.name = name;
    named.inputs.assign(inputs, -1);
    named.outputs = {-1};
    for (const auto& [operand, place] : places) {
      (operand == static_cast<int>(inputs) ? named.outputs[0]
                                           : named.inputs[static_cast<size_t>(operand)]) = place;
    }
    named.role = named.outputs[0] >= 0 ? ir::AxisRole::kFree : ir::AxisRole::kReduced;
    return named;
  };
  const ir::NamedAxis batch = axis("batch", {{x, 0}, {y, 0}});
  if (groups != 1) return ir::Axes{batch};
  return ir::Axes{batch, axis("channels", {{x, 1}, {w, 1}}), axis("outputs", {{w, 0}, {y, 1}})};
}

ir::Cost ConvCost(const ir::OpCall& call, const Dims& w, const Dims& y) {
  double products = static_cast<double>(y.elements().max());
  for (int axis = 1; axis < w.rank(); ++axis) products *= static_cast<double>(w[axis].max());
  const double bytes = core::Info(call.dtype(0)).block_bytes;
  double read = 0;
  for (const ir::OpCall::Input& input : call.all_inputs()) {
    if (input.given) read += static_cast<double>(input.type.dims.elements().max()) * bytes;
  }
  return {2 * products, read, static_cast<double>(y.elements().max()) * bytes};
}

std::vector<std::pair<core::Shape, std::pair<core::Shape, ir::AttrList>>> ConvCases() {
  return {
      {{1, 1, 1}, {{1, 1, 1}, {}}},
      {{2, 3, 8}, {{4, 3, 3}, {}}},
      {{2, 3, 9}, {{4, 3, 3}, {{"strides", Ints{2}}, {"pads", Ints{1, 0}}}}},
      {{2, 2, 6, 5}, {{3, 2, 3, 2}, {{"pads", Ints{1, 1, 0, 1}}}}},
      {{1, 4, 5, 5}, {{6, 2, 2, 2}, {{"groups", 2}, {"dilation", Ints{2, 1}}}}},
      {{2, 3, 4, 4}, {{3, 1, 3, 3}, {{"groups", 3}, {"pads", Ints{1, 1, 1, 1}}}}},
      {{1, 2, 3, 4, 3}, {{2, 2, 2, 2, 2}, {{"strides", Ints{1, 2, 1}}}}},
      {{0, 2, 5}, {{3, 2, 2}, {}}},
  };
}

core::Shape ConvCaseOutput(const core::Shape& x, const core::Shape& w,
                           const ir::AttrList& attributes) {
  ir::OpDef op;
  op.inputs = {{"x"}, {"w"}};
  op.attributes = ConvAttributes();
  const auto bound = ir::Attributes::Bind(op.attributes, attributes);
  RML_CHECK(bound.ok());
  const ir::OpCall call(op, {}, *bound);
  const auto g = GeometryOf(call, x.rank() - 2);
  RML_CHECK(g.ok());
  return ConvOutput(*g, Dims(x), Dims(w))->shape();
}

}  // namespace rml::ops
