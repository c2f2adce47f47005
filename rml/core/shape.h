// Shape: the dimensions of a tensor, outermost first, held inline (no allocation).
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "rml/core/expected.h"

namespace rml::core {

inline constexpr int kMaxRank = 8;

class Shape {
 public:
  Shape() = default;                           // rank 0: one element
  Shape(std::initializer_list<int64_t> dims);  // RML_CHECKs what Make reports

  // Fails on more than kMaxRank dimensions, a negative one, or a product past int64.
  static Expected<Shape> Make(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return dims_[static_cast<size_t>(axis)]; }
  int64_t dim(int axis) const { return dims_[static_cast<size_t>(axis < 0 ? axis + rank_ : axis)]; }
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }
  int64_t elements() const;  // the product; checked when the shape was made

  std::string ToString() const;  // "[2, 3]"
  friend bool operator==(const Shape& a, const Shape& b);

 private:
  std::array<int64_t, kMaxRank> dims_ = {};
  int rank_ = 0;
};

// NumPy's broadcasting: aligned at the right, dimensions equal or one of them 1.
Expected<Shape> BroadcastShapes(const Shape& a, const Shape& b);

}  // namespace rml::core
