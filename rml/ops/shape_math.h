// Index arithmetic of references: row-major positions and coordinates.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "rml/core/shape.h"
#include "rml/ir/attributes.h"

namespace rml::ops {

using Coordinates = std::array<int64_t, core::kMaxRank>;

// The coordinates of a row-major position.
Coordinates CoordinatesOf(int64_t position, const core::Shape& shape);
int64_t PositionOf(const Coordinates& at, const core::Shape& shape);

// A shape seen as [outer, size, inner] around one axis.
struct AxisView {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;

  AxisView(const core::Shape& shape, int axis);
  int64_t at(int64_t o, int64_t i, int64_t k) const { return (o * size + i) * inner + k; }
};

bool Contains(std::span<const int64_t> axes, int64_t axis);

}  // namespace rml::ops
