#include "rml/ops/convolution.h"

#include "rml/ir/expr_call.h"
#include "rml/ops/expr.h"
#include "rml/ops/window.h"

namespace rml::ops {

using ir::Dim;
using ir::Dims;
using ir::Ints;
using ir::Value;

core::Expected<ConvGeometry> GeometryOf(const ir::OpCall& call, int spatial) {
  ConvGeometry g;
  g.spatial = spatial;
  const auto axes = static_cast<size_t>(spatial);
  RML_ASSIGN(g.strides, WindowNumbers(call, "strides", axes, 1, 1));
  RML_ASSIGN(g.dilation, WindowNumbers(call, "dilation", axes, 1, 1));
  RML_ASSIGN(g.pads, WindowNumbers(call, "pads", 2 * axes, 0, 0));
  g.groups = call.integer("groups");
  if (g.groups < 1) return core::InvalidArgument("groups is ", g.groups);
  return g;
}

namespace {

// y's dimensions for x and w. Fails where they do not fit.
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
    RML_ASSIGN(const Dim room, WindowRoom(s + 2, x[s + 2], w[s + 2], g.dilation[i], g.pads[2 * i],
                                          g.pads[2 * i + 1]));
    y.Append(FloorDiv(room, g.strides[i]) + 1);
  }
  return y;
}

// The dimensions of x, w and y in one call: two are its inputs', one an attribute's or follows.
struct ConvDims {
  ConvGeometry g;
  Dims x, w, y;
};

core::Expected<ConvDims> ConvDimsOf(const ir::OpCall& call, ConvOperands at) {
  const auto dims_of = [&](int operand) -> Dims {
    return operand < 2 ? call.input(operand).dims : call.attr<Dims>("shape");
  };
  const auto name_of = [&](int operand) {
    return operand < 2 ? call.input_name(operand) : std::string("shape");
  };
  ConvDims dims;
  dims.x = dims_of(at.x);
  dims.w = dims_of(at.w);
  const int rank = dims.x.rank();
  if (rank < 3)
    return core::InvalidArgument(name_of(at.x), " has ", rank, " dimensions, expected at least 3");
  for (const int operand : {at.w, at.y}) {
    if (operand == 2 && at.y == 2) continue;
    if (const int other = dims_of(operand).rank(); other != rank)
      return core::InvalidArgument(name_of(at.x), " has ", rank, " dimensions and ",
                                   name_of(operand), " ", other, ", expected equally many");
  }
  RML_ASSIGN(dims.g, GeometryOf(call, rank - 2));
  RML_ASSIGN(dims.y, ConvOutput(dims.g, dims.x, dims.w));
  if (at.y < 2 && !(dims.y == call.input(at.y).dims)) {
    return core::InvalidArgument(call.input_name(at.y), " is ", call.input(at.y).dims.ToString(),
                                 ", and a convolution of ", dims.x.ToString(), " with ",
                                 dims.w.ToString(), " gives ", dims.y.ToString());
  }
  return dims;
}

// Which axes may be split: the batch; outputs and channels where there is one group.
ir::Axes ConvAxes(const ir::OpCall& call, ConvOperands at) {
  const auto axis = [](std::string_view name, std::initializer_list<std::pair<int, int>> places) {
    ir::NamedAxis named;
    named.name = name;
    named.inputs = {-1, -1};
    named.outputs = {-1};
    for (const auto& [operand, place] : places) {
      (operand == 2 ? named.outputs[0] : named.inputs[static_cast<size_t>(operand)]) = place;
    }
    named.role = named.outputs[0] >= 0 ? ir::AxisRole::kFree : ir::AxisRole::kReduced;
    return named;
  };
  ir::Axes axes = {axis("batch", {{at.x, 0}, {at.y, 0}})};
  if (call.integer("groups") != 1) return axes;
  axes.push_back(axis("channels", {{at.x, 1}, {at.w, 1}}));
  axes.push_back(axis("outputs", {{at.w, 0}, {at.y, 1}}));
  return axes;
}

// Two operations for each product.
ir::Cost ConvCost(const ir::OpCall& call, ConvOperands at) {
  const auto dims = ConvDimsOf(call, at);
  double products = static_cast<double>(dims->y.elements().max());
  for (int axis = 1; axis < dims->w.rank(); ++axis)
    products *= static_cast<double>(dims->w[axis].max());
  const double bytes = core::Info(call.dtype(0)).block_bytes;
  const auto moved = [&](const Dims& operand) {
    return static_cast<double>(operand.elements().max()) * bytes;
  };
  const Dims& made = at.x == 2 ? dims->x : at.w == 2 ? dims->w : dims->y;
  return {2 * products, moved(call.input(0).dims) + moved(call.input(1).dims), moved(made)};
}

// ⟨y, x * w⟩ is linear in all three: the gradient of an operand is the operator that makes it, of
// the two others, with the incoming gradient in place of what this call made.
ir::Values ConvGradients(ir::ExprCall& call, ConvOperands at) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  const auto operand = [&](int i) { return i < 2 ? call.in(i) : call.grad(0); };
  const Value x = operand(at.x);
  const Value w = operand(at.w);
  const Value y = operand(at.y);
  ir::AttrList attributes = {{"strides", c.ints("strides")},
                             {"pads", c.ints("pads")},
                             {"dilation", c.ints("dilation")},
                             {"groups", c.integer("groups")}};
  const auto with_shape = [&](const Value& made) {
    ir::AttrList list = attributes;
    list.push_back({"shape", made.type().dims});
    return list;
  };
  ir::Values grads(size_t{2});
  for (const int i : {0, 1}) {
    if (!call.needs(i)) continue;
    grads[static_cast<size_t>(i)] =
        i == at.x   ? e.one("convolution_input_grad", {y, w}, with_shape(x))
        : i == at.w ? e.one("convolution_weight_grad", {x, y}, with_shape(w))
                    : e.one("convolution", {x, w}, attributes);
  }
  return grads;
}

struct ConvCase {
  core::Shape x, w, y;
  ir::AttrList attributes;
};

std::vector<ConvCase> ConvCases() {
  return {
      {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {}},
      {{2, 3, 8}, {4, 3, 3}, {2, 4, 6}, {}},
      {{2, 3, 9}, {4, 3, 3}, {2, 4, 4}, {{"strides", Ints{2}}, {"pads", Ints{1, 0}}}},
      {{2, 2, 6, 5}, {3, 2, 3, 2}, {2, 3, 6, 5}, {{"pads", Ints{1, 1, 0, 1}}}},
      {{1, 4, 5, 5}, {6, 2, 2, 2}, {1, 6, 3, 4}, {{"groups", 2}, {"dilation", Ints{2, 1}}}},
      {{2, 3, 4, 4}, {3, 1, 3, 3}, {2, 3, 4, 4}, {{"groups", 3}, {"pads", Ints{1, 1, 1, 1}}}},
      {{1, 2, 3, 4, 3}, {2, 2, 2, 2, 2}, {1, 2, 2, 2, 2}, {{"strides", Ints{1, 2, 1}}}},
      {{0, 2, 5}, {3, 2, 2}, {0, 3, 4}, {}},
  };
}

std::vector<ir::Sample> ConvSamples(ConvOperands at) {
  std::vector<ir::Sample> samples;
  for (const ConvCase& c : ConvCases()) {
    const auto shape_of = [&](int operand) {
      return operand == at.x ? c.x : operand == at.w ? c.w : c.y;
    };
    ir::AttrList attributes = c.attributes;
    if (at.y != 2) attributes.push_back({"shape", Dims(shape_of(2))});
    samples.push_back({{{shape_of(0)}, {shape_of(1)}}, attributes});
  }
  return samples;
}

}  // namespace

ir::OpDef ConvolutionForm(ConvOperands at) {
  ir::OpDef op;
  op.attributes = {{"strides", Ints()}, {"pads", Ints()}, {"dilation", Ints()}, {"groups", 1}};
  op.axes = ir::AxesRule(
      [at](const ir::OpCall& call) -> core::Expected<ir::Axes> { return ConvAxes(call, at); });
  op.infer = [at](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_ASSIGN(const ConvDims dims, ConvDimsOf(call, at));
    outputs->push_back({call.dtype(0), at.x == 2 ? dims.x : at.w == 2 ? dims.w : dims.y});
    return {};
  };
  op.vjp = [at](ir::ExprCall& call) { return ConvGradients(call, at); };
  op.cost = [at](const ir::OpCall& call) { return ConvCost(call, at); };
  op.samples = [at] { return ConvSamples(at); };
  if (at.y == 2) return op;
  op.attributes.push_back({"shape", ir::RequiredAttr{Dims()}});
  op.localize = [at](const ir::OpCall& call,
                     const ir::AxisPiece& piece) -> core::Expected<ir::AttrList> {
    Dims dims = call.attr<Dims>("shape");
    if (piece.axis == (at.x == 2 ? "batch" : "outputs")) dims[0] = piece.size;
    if (piece.axis == "channels") dims[1] = piece.size;
    return ir::AttrList{{"shape", dims}};
  };
  return op;
}

}  // namespace rml::ops
