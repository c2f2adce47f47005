#include "rml/ops/indexing.h"

namespace rml::ops {

using core::Expected;
using core::Status;

Expected<int64_t> CheckIndex(int64_t index, int64_t size, int64_t at, const core::Shape& shape) {
  const int64_t place = index < 0 ? index + size : index;
  if (place >= 0 && place < size) return place;
  std::string where;
  const Coordinates coordinates = CoordinatesOf(at, shape);
  for (int axis = 0; axis < shape.rank(); ++axis)
    where += core::StrCat(axis > 0 ? ", " : "", coordinates[static_cast<size_t>(axis)]);
  return core::OutOfRange("index ", index, " at [", where, "] is outside an axis of ", size,
                          " elements");
}

Status CheckAlongAxis(const ir::OpCall& call) {
  if (call.rank(0) == 0) return core::InvalidArgument("x has no axis");
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
  if (call.rank(0) != call.rank(1)) {
    return core::InvalidArgument("x has ", call.rank(0), " dimensions and indices have ",
                                 call.rank(1));
  }
  for (int i = 0; i < call.rank(0); ++i) {
    if (i == axis || call.dim(0, i) == call.dim(1, i)) continue;
    return core::InvalidArgument("axis ", i, " is ", call.dim(0, i).ToString(), " in x and ",
                                 call.dim(1, i).ToString(), " in indices");
  }
  return {};
}

Expected<ir::Axes> AlongAxisAxes(const ir::OpCall& call) {
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
  ir::Axes axes;
  for (int i = 0; i < call.rank(0); ++i) {
    if (i == axis) continue;
    axes.push_back({core::StrCat("d", i),
                    ir::AxisRole::kFree,
                    ir::Combine::kSum,
                    std::vector<int>(static_cast<size_t>(call.inputs()), i),
                    {i}});
  }
  return axes;
}

Status CheckReduceName(std::string_view name) {
  for (const std::string_view known : {"none", "add", "mul", "max", "min"}) {
    if (name == known) return {};
  }
  return core::InvalidArgument("reduce is \"", name, "\", expected none, add, mul, max or min");
}

}  // namespace rml::ops
