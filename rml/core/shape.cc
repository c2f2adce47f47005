#include "rml/core/shape.h"

#include <algorithm>

#include "rml/core/check.h"
#include "rml/core/checked_math.h"

namespace rml::core {

Shape::Shape(std::initializer_list<int64_t> dims) {
  auto made = Make({dims.begin(), dims.size()});
  RML_CHECK(made.has_value());
  *this = *made;
}

Expected<Shape> Shape::Make(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) {
    return InvalidArgument("a shape of ", dims.size(), " dimensions: at most ", kMaxRank,
                           " are supported");
  }
  Shape shape;
  shape.rank_ = static_cast<int>(dims.size());
  // A zero anywhere makes the product zero, yet the other dimensions must not overflow either:
  // strides are made from them.
  int64_t product = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) return InvalidArgument("dimension ", i, " is negative (", dims[i], ")");
    if (!CheckedMul<int64_t>(product, std::max<int64_t>(dims[i], 1), &product)) {
      return InvalidArgument("the product of dimensions up to ", i, " overflows 64 bits");
    }
    shape.dims_[i] = dims[i];
  }
  return shape;
}

int64_t Shape::elements() const {
  int64_t product = 1;
  for (int i = 0; i < rank_; ++i) product *= (*this)[i];
  return product;
}

std::string Shape::ToString() const {
  std::string out = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) out += ", ";
    out += StrCat((*this)[i]);
  }
  return out + "]";
}

bool operator==(const Shape& a, const Shape& b) { return std::ranges::equal(a.dims(), b.dims()); }

Expected<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::array<int64_t, kMaxRank> dims = {};
  for (int i = 1; i <= rank; ++i) {
    const int64_t from_a = i <= a.rank() ? a.dim(-i) : 1;
    const int64_t from_b = i <= b.rank() ? b.dim(-i) : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      return InvalidArgument("shapes ", a.ToString(), " and ", b.ToString(),
                             " do not broadcast: axis -", i, " is ", from_a, " and ", from_b);
    }
    dims[static_cast<size_t>(rank - i)] = from_a == 1 ? from_b : from_a;
  }
  return Shape::Make({dims.data(), static_cast<size_t>(rank)});
}

}  // namespace rml::core
