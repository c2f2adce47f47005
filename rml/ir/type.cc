#include "rml/ir/type.h"

#include <algorithm>

#include "rml/core/check.h"
#include "rml/core/checked_math.h"

namespace rml::ir {

Dims::Dims(std::span<const Dim> dims) : rank_(static_cast<int>(dims.size())) {
  RML_CHECK(dims.size() <= core::kMaxRank);
  std::ranges::copy(dims, dims_.begin());
}

Dims::Dims(const core::Shape& shape) : rank_(shape.rank()) {
  for (int i = 0; i < rank_; ++i) dims_[static_cast<size_t>(i)] = shape[i];
}

void Dims::Append(Dim dim) {
  RML_CHECK(!full());
  dims_[static_cast<size_t>(rank_++)] = dim;
}

void Dims::Insert(int axis, Dim dim) {
  RML_CHECK(!full() && axis >= 0 && axis <= rank_);
  std::copy_backward(dims_.begin() + axis, dims_.begin() + rank_, dims_.begin() + rank_ + 1);
  dims_[static_cast<size_t>(axis)] = dim;
  ++rank_;
}

void Dims::Erase(int axis) {
  RML_CHECK(axis >= 0 && axis < rank_);
  std::copy(dims_.begin() + axis + 1, dims_.begin() + rank_, dims_.begin() + axis);
  --rank_;
}

Dim Dims::elements() const {
  Dim product = 1;
  for (const Dim dim : *this) product = product * dim;
  return product;
}

bool Dims::is_static() const { return std::ranges::all_of(*this, &Dim::is_integer); }

core::Shape Dims::shape() const {
  std::array<int64_t, core::kMaxRank> values = {};
  for (int i = 0; i < rank_; ++i) values[static_cast<size_t>(i)] = (*this)[i].value();
  auto shape = core::Shape::Make({values.data(), static_cast<size_t>(rank_)});
  RML_CHECK(shape.ok());
  return *shape;
}

core::Status Dims::Check() const {
  int64_t least = 1;
  for (int i = 0; i < rank_; ++i) {
    if (!(*this)[i].valid()) {
      return core::InvalidArgument("dimension ", i, " is negative or past 63 bits");
    }
    if (!core::CheckedMul(least, std::max<int64_t>((*this)[i].min(), 1), &least)) {
      return core::InvalidArgument("the product of dimensions ", ToString(), " overflows 63 bits");
    }
  }
  return {};
}

std::string Dims::ToString() const {
  std::string out = "[";
  for (int i = 0; i < rank_; ++i) out += core::StrCat(i > 0 ? ", " : "", (*this)[i].ToString());
  return out + "]";
}

bool operator==(const Dims& a, const Dims& b) { return std::ranges::equal(a.span(), b.span()); }

std::string Type::ToString() const { return core::StrCat(core::Name(dtype), dims.ToString()); }

}  // namespace rml::ir
