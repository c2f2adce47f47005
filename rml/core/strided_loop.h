// StridedLoop: walks the elements of N operands of one shape, each with strides of its own (0 where
// it is broadcast), row by row. Axes of one element vanish and axes that lie together in every
// operand are merged, so that what is contiguous is one row. Elements are visited in row-major
// order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rml/core/shape.h"

namespace rml::core {

template <int N>
class StridedLoop {
 public:
  using Offsets = std::array<int64_t, N>;

  // strides[k] holds shape.rank() strides of operand k, in elements.
  StridedLoop(const Shape& shape, const std::array<std::span<const int64_t>, N>& strides) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const int64_t size = shape[axis];
      if (size == 0) empty_ = true;
      if (size == 1) continue;
      Axis next{.size = size, .strides = {}};
      for (size_t k = 0; k < N; ++k) next.strides[k] = strides[k][static_cast<size_t>(axis)];
      if (rank_ > 0 && Merge(axes_[static_cast<size_t>(rank_ - 1)], next)) continue;
      axes_[static_cast<size_t>(rank_++)] = next;
    }
    if (rank_ == 0) axes_[static_cast<size_t>(rank_++)] = Axis{.size = 1, .strides = {}};
  }

  int64_t row_elements() const { return Inner().size; }
  const Offsets& row_strides() const { return Inner().strides; }

  // Calls row(offsets) for each row, with every operand's offset of the row's first element.
  template <typename Row>
  void ForEachRow(Row&& row) const {
    if (empty_) return;
    Offsets offsets = {};
    std::array<int64_t, kMaxRank> index = {};
    for (;;) {
      row(static_cast<const Offsets&>(offsets));
      int axis = rank_ - 2;
      for (; axis >= 0; --axis) {
        const Axis& at = axes_[static_cast<size_t>(axis)];
        int64_t& i = index[static_cast<size_t>(axis)];
        for (size_t k = 0; k < N; ++k) offsets[k] += at.strides[k];
        if (++i < at.size) break;
        for (size_t k = 0; k < N; ++k) offsets[k] -= at.size * at.strides[k];
        i = 0;
      }
      if (axis < 0) return;
    }
  }

 private:
  struct Axis {
    int64_t size = 1;
    Offsets strides = {};
  };

  const Axis& Inner() const { return axes_[static_cast<size_t>(rank_ - 1)]; }

  static bool Merge(Axis& outer, const Axis& inner) {
    for (size_t k = 0; k < N; ++k) {
      if (outer.strides[k] != inner.strides[k] * inner.size) return false;
    }
    outer.size *= inner.size;
    outer.strides = inner.strides;
    return true;
  }

  std::array<Axis, kMaxRank> axes_ = {};
  int rank_ = 0;
  bool empty_ = false;
};

}  // namespace rml::core
