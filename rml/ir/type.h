// Type: what is known of a value before it exists: the dtype, and dimensions that may be symbolic.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "rml/core/dtype.h"
#include "rml/core/shape.h"
#include "rml/ir/dim.h"

namespace rml::ir {

// Dimensions, outermost first; at most core::kMaxRank.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<Dim> dims) : Dims(std::span(dims.begin(), dims.size())) {}
  explicit Dims(std::span<const Dim> dims);  // RML_CHECKs the rank
  Dims(const core::Shape& shape);

  int rank() const { return rank_; }
  Dim operator[](int axis) const { return dims_[static_cast<size_t>(axis)]; }
  Dim& operator[](int axis) { return dims_[static_cast<size_t>(axis)]; }
  Dim dim(int axis) const { return dims_[static_cast<size_t>(axis < 0 ? axis + rank_ : axis)]; }
  std::span<const Dim> span() const { return {dims_.data(), static_cast<size_t>(rank_)}; }
  const Dim* begin() const { return dims_.data(); }
  const Dim* end() const { return dims_.data() + rank_; }

  bool full() const { return rank_ == core::kMaxRank; }
  void Append(Dim dim);  // RML_CHECKs that there is room
  void Insert(int axis, Dim dim);
  void Erase(int axis);

  Dim elements() const;  // their product
  bool is_static() const;
  core::Shape shape() const;  // of static dimensions that Check has passed

  // Says which dimension is invalid, or that the product overflows 63 bits even at the least.
  core::Status Check() const;

  std::string ToString() const;  // "[batch, 8]"
  friend bool operator==(const Dims& a, const Dims& b);

 private:
  std::array<Dim, core::kMaxRank> dims_ = {};
  int rank_ = 0;
};

struct Type {
  core::DType dtype = core::DType::kF32;
  Dims dims;

  int rank() const { return dims.rank(); }
  Dim dim(int axis) const { return dims.dim(axis); }
  std::string ToString() const;  // "f32[batch, 8]"
  friend bool operator==(const Type&, const Type&) = default;
};

}  // namespace rml::ir
