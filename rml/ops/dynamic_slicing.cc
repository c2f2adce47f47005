#include "rml/ops/dynamic_slicing.h"

#include <algorithm>

#include "rml/ops/shape_ops.h"

namespace rml::ops {

core::Expected<ir::Ints> DynamicAxes(const ir::OpCall& call, int64_t count) {
  RML_ASSIGN(ir::Ints axes, AxesInOrder(call, "axes", call.rank(0)));
  if (axes.empty()) {
    if (count > call.rank(0)) {
      return core::InvalidArgument("there are ", count, " starts, and x has ", call.rank(0),
                                   " dimensions");
    }
    for (int64_t axis = 0; axis < count; ++axis) axes.push_back(axis);
  }
  if (static_cast<int64_t>(axes.size()) != count)
    return core::InvalidArgument("there are ", count, " starts and ", axes.size(), " axes");
  return axes;
}

core::Expected<ir::Axes> DynamicSliceAxes(const ir::OpCall& call, int boxes, int64_t count) {
  RML_ASSIGN(const ir::Ints cut, DynamicAxes(call, count));
  ir::Axes axes;
  for (int axis = 0; axis < call.rank(0); ++axis) {
    if (Contains(cut, axis)) continue;
    std::vector<int> inputs(static_cast<size_t>(call.inputs()), -1);
    std::fill_n(inputs.begin(), boxes, axis);
    axes.push_back(FreeAxis(axis, inputs, {axis}));
  }
  return axes;
}

std::vector<int64_t> DynamicStarts(const ir::RefCall& call, int starts, const ir::Ints& axes,
                                   const core::Shape& whole, const core::Shape& size) {
  const auto given = call.in<int64_t>(starts);
  std::vector<int64_t> first(static_cast<size_t>(whole.rank()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<int>(axes[i]);
    first[static_cast<size_t>(axis)] =
        std::clamp<int64_t>(given[static_cast<int64_t>(i)], 0, whole[axis] - size[axis]);
  }
  return first;
}

}  // namespace rml::ops
