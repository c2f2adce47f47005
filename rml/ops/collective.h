// What operators that move pieces between the members of a group share.
#pragma once

#include <algorithm>
#include <string_view>

#include "rml/core/collectives.h"
#include "rml/ir/op_call.h"
#include "rml/ir/ref_call.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {

// "sum", "max", "min", "prod"
core::Expected<core::ReduceOp> ReduceOpNamed(std::string_view name);

// The attribute `members`, how many there are: shapes follow from it.
core::Expected<int64_t> MembersOf(const ir::OpCall& call);
// Dimensions with axis `axis` cut into one piece for each member, or joined from them.
core::Expected<ir::Dims> CutDims(ir::Dims dims, int axis, int64_t members);
ir::Dims JoinedDims(ir::Dims dims, int axis, int64_t members);

// The run's group, null where it has one member; fails where it has not `members` (0: any number).
core::Expected<core::Collectives*> GroupOf(const ir::RefCall& call, int64_t members);

// Of the operators with one member that all others look to, the attribute `root`. GroupOf, and
// fails on a root that the group has not.
core::Expected<core::Collectives*> GroupWithRoot(const ir::RefCall& call);
// Their form: all but the reference and the dtypes. The gradient of each is the operator `adjoint`.
ir::OpDef Rooted(std::string_view name, std::string_view doc, std::string_view adjoint);

// All axes are free but those named.
ir::Axes AxesBut(const ir::OpCall& call, std::span<const int64_t> whole);

// A contiguous tensor over elements, of one axis.
template <typename T>
core::Expected<core::Tensor> TensorOver(std::span<T> elements) {
  RML_ASSIGN(const core::Shape shape,
             core::Shape::Make(std::array{static_cast<int64_t>(elements.size())}));
  return core::Tensor::Over(core::Buffer::WrapWritable(std::as_writable_bytes(elements), nullptr),
                            core::DTypeOf<T>::value, shape);
}

// In a group of `members`, body(group, x, y); alone, y is x.
template <typename T, typename Body>
core::Status Exchange(const ir::RefCall& call, int64_t members, Body&& body) {
  RML_ASSIGN(core::Collectives* const group, GroupOf(call, members));
  const auto x = call.in<T>(0);
  const auto y = call.out<T>(0);
  if (group != nullptr) return body(*group, x, y);
  std::copy(x.begin(), x.end(), y.begin());
  return {};
}

template <typename T>
core::Expected<core::Tensor> TensorOver(const ir::WideArray<T>& elements) {
  return TensorOver(std::span<T>(elements.begin(), elements.end()));
}

// Between a value whose axis is joined from pieces and the pieces one after the other, as the
// group's operations want them.
template <typename T>
void CopyPieces(const core::Shape& joined, int axis, int64_t members, T* values, T* pieces,
                bool to_pieces) {
  const AxisView view(joined, axis);
  const int64_t size = view.size / members;
  for (int64_t m = 0; m < members; ++m) {
    for (int64_t o = 0; o < view.outer; ++o) {
      T* const value = values + view.at(o, m * size, 0);
      T* const piece = pieces + (m * view.outer + o) * size * view.inner;
      if (to_pieces) {
        std::copy_n(value, size * view.inner, piece);
      } else {
        std::copy_n(piece, size * view.inner, value);
      }
    }
  }
}

}  // namespace rml::ops
