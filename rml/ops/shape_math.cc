#include "rml/ops/shape_math.h"

#include <algorithm>

namespace rml::ops {

Coordinates CoordinatesOf(int64_t position, const core::Shape& shape) {
  Coordinates at = {};
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    at[static_cast<size_t>(axis)] = position % shape[axis];
    position /= shape[axis];
  }
  return at;
}

int64_t PositionOf(const Coordinates& at, const core::Shape& shape) {
  int64_t position = 0;
  for (int axis = 0; axis < shape.rank(); ++axis)
    position = position * shape[axis] + at[static_cast<size_t>(axis)];
  return position;
}

AxisView::AxisView(const core::Shape& shape, int axis) : size(shape[axis]) {
  for (int i = 0; i < axis; ++i) outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
}

bool Contains(std::span<const int64_t> axes, int64_t axis) {
  return std::ranges::find(axes, axis) != axes.end();
}

}  // namespace rml::ops
