// What kernels of the host's memory share: typed pointers into tensors, and the usual refusals.
#pragma once

#include <initializer_list>

#include "rml/core/dtype_of.h"
#include "rml/core/tensor.h"
#include "rml/ops/provider.h"

namespace rml::ops {

// The first element. The tensor is on the host and of this type: its provider and accepts() saw to
// it.
template <typename T>
const T* Data(const core::Tensor& tensor) {
  return reinterpret_cast<const T*>(
      reinterpret_cast<const std::byte*>(tensor.buffer()->handle().value) + tensor.byte_offset());
}
template <typename T>
T* MutableData(const core::Tensor& tensor) {
  return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(tensor.buffer()->handle().value) +
                              tensor.byte_offset());
}

// The elements without gaps: where they are, or copied to `space`, which holds tensor.bytes().
core::Expected<const std::byte*> DenseBytes(const core::Tensor& tensor, std::byte* space);
template <typename T>
core::Expected<const T*> Dense(const core::Tensor& tensor, T* space) {
  RML_ASSIGN(const std::byte* const bytes, DenseBytes(tensor, reinterpret_cast<std::byte*>(space)));
  return reinterpret_cast<const T*>(bytes);
}

Kernel::Refusal WantsDType(const ir::OpCall& call, int input, core::DType dtype);
Kernel::Refusal WantsOneOf(const ir::OpCall& call, int input,
                           std::initializer_list<core::DType> dtypes);
// All sizes of all inputs are integers.
Kernel::Refusal WantsKnownSizes(const ir::OpCall& call);

}  // namespace rml::ops
