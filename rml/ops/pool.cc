#include "rml/ops/pool.h"

#include <algorithm>

#include "rml/ops/window.h"

namespace rml::ops {

using ir::Dim;
using ir::Dims;
using ir::Ints;

std::vector<ir::AttrDef> PoolAttributes() {
  return {{"kernel", ir::RequiredAttr{Ints()}},
          {"strides", Ints()},
          {"pads", Ints()},
          {"dilation", Ints()},
          {"ceil_mode", false}};
}

ir::AttrList PoolAttributesOf(const ir::OpCall& call) {
  return {{"kernel", call.ints("kernel")},
          {"strides", call.ints("strides")},
          {"pads", call.ints("pads")},
          {"dilation", call.ints("dilation")},
          {"ceil_mode", call.flag("ceil_mode")}};
}

core::Expected<PoolGeometry> PoolGeometryOf(const ir::OpCall& call) {
  PoolGeometry g;
  if (call.rank(0) < 3)
    return core::InvalidArgument("x has ", call.rank(0), " dimensions, expected at least 3");
  const auto axes = static_cast<size_t>(call.rank(0) - 2);
  if (call.ints("kernel").empty()) return core::InvalidArgument("kernel is empty");
  RML_ASSIGN(g.kernel, WindowNumbers(call, "kernel", axes, 1, 1));
  RML_ASSIGN(g.strides, WindowNumbers(call, "strides", axes, 1, 1));
  RML_ASSIGN(g.dilation, WindowNumbers(call, "dilation", axes, 1, 1));
  RML_ASSIGN(g.pads, WindowNumbers(call, "pads", 2 * axes, 0, 0));
  g.ceil_mode = call.flag("ceil_mode");
  // Windows are walked element by element.
  Dim elements = 1;
  for (const int64_t size : g.kernel) elements = elements * size;
  if (!elements.valid()) return core::InvalidArgument("kernel has too many elements");
  return g;
}

core::Expected<Dims> PoolOutput(const PoolGeometry& g, const Dims& x) {
  Dims y = {x[0], x[1]};
  for (int s = 0; s < g.spatial(); ++s) {
    const auto i = static_cast<size_t>(s);
    RML_ASSIGN(const Dim room, WindowRoom(s + 2, x[s + 2], g.kernel[i], g.dilation[i],
                                          g.pads[2 * i], g.pads[2 * i + 1]));
    const Dim stride = g.strides[i];
    if (!g.ceil_mode || stride == Dim(1)) {
      y.Append(FloorDiv(room, stride) + 1);
      continue;
    }
    const Dim up = FloorDiv(room + (stride - 1), stride) + 1;
    // A last window that would start behind x's end is dropped.
    const Dim starts = FloorDiv(x[s + 2] + g.pads[2 * i] + (stride - 1), stride);
    if (!up.is_integer() || !starts.is_integer())
      return core::Unsupported("ceil_mode over an axis of ", x[s + 2].ToString(),
                               " elements, which only the run knows");
    y.Append(std::min(up.value(), starts.value()));
  }
  return y;
}

core::Expected<Dims> PooledDims(const ir::OpCall& call) {
  RML_ASSIGN(const PoolGeometry g, PoolGeometryOf(call));
  return PoolOutput(g, call.input(0).dims);
}

core::Expected<ir::Axes> PoolAxes(const ir::OpCall& call) {
  const size_t outputs = call.op().outputs.size();
  ir::Axes axes;
  for (const int axis : {0, 1}) {
    axes.push_back({axis == 0 ? "batch" : "channels",
                    ir::AxisRole::kFree,
                    ir::Combine::kSum,
                    {axis},
                    std::vector<int>(outputs, axis)});
  }
  return axes;
}

ir::Cost PoolCost(const ir::OpCall& call) {
  const auto g = PoolGeometryOf(call);
  const auto y = PoolOutput(*g, call.input(0).dims);
  double window = 1;
  for (const int64_t size : g->kernel) window *= static_cast<double>(size);
  const double bytes = core::Info(call.dtype(0)).block_bytes;
  const double made = static_cast<double>(y->elements().max());
  return {window * made, bytes * static_cast<double>(call.input(0).dims.elements().max()),
          bytes * made};
}

std::vector<PoolCase> PoolCases() {
  return {
      {{1, 1, 1}, {1, 1, 1}, {{"kernel", Ints{1}}}},
      {{2, 3, 8}, {2, 3, 6}, {{"kernel", Ints{3}}}},
      {{2, 3, 9}, {2, 3, 4}, {{"kernel", Ints{3}}, {"strides", Ints{2}}, {"pads", Ints{1, 0}}}},
      {{1, 2, 6, 5},
       {1, 2, 4, 3},
       {{"kernel", Ints{3, 2}},
        {"strides", Ints{2, 2}},
        {"pads", Ints{1, 1, 0, 1}},
        {"ceil_mode", true}}},
      {{1, 2, 7, 7}, {1, 2, 3, 6}, {{"kernel", Ints{3, 2}}, {"dilation", Ints{2, 1}}}},
      {{1, 2, 3, 4, 3}, {1, 2, 2, 2, 2}, {{"kernel", Ints{2, 2, 2}}, {"strides", Ints{1, 2, 1}}}},
      {{0, 2, 5}, {0, 2, 4}, {{"kernel", Ints{2}}}},
      // The third window would start in the padding behind: ceil_mode leaves it out.
      {{1, 1, 3},
       {1, 1, 2},
       {{"kernel", Ints{2}}, {"strides", Ints{2}}, {"pads", Ints{1, 1}}, {"ceil_mode", true}}},
  };
}

}  // namespace rml::ops
