// What kernels share: typed pointers into host tensors, and refusals by dtype.
#pragma once

#include <optional>
#include <string>

#include "rml/core/dtype_of.h"
#include "rml/core/tensor.h"
#include "rml/ops/provider.h"

namespace rml::providers::cpu {

// The first element. The tensor is on the host and of this type: its provider and accepts() saw to
// it.
template <typename T>
const T* Data(const core::Tensor& tensor) {
  return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(tensor.buffer()->handle().value) +
                                    tensor.byte_offset());
}
template <typename T>
T* MutableData(const core::Tensor& tensor) {
  return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(tensor.buffer()->handle().value) +
                              tensor.byte_offset());
}

inline ops::Kernel::Refusal WantsDType(const ir::OpCall& call, int input, core::DType dtype) {
  if (call.dtype(input) == dtype) return std::nullopt;
  return core::StrCat("it takes ", core::Name(dtype), ", not ", core::Name(call.dtype(input)));
}

}  // namespace rml::providers::cpu
