#include "rml/ops/host_data.h"

namespace rml::ops {

core::Expected<const std::byte*> DenseBytes(const core::Tensor& tensor, std::byte* space) {
  if (tensor.IsContiguous()) return Data<std::byte>(tensor);
  const std::span bytes(space, static_cast<size_t>(tensor.bytes()));
  RML_ASSIGN(const core::Tensor dense,
             core::Tensor::Over(core::Buffer::WrapWritable(bytes, nullptr), tensor.dtype(),
                                tensor.shape()));
  RML_TRY(tensor.CopyTo(dense));
  return static_cast<const std::byte*>(space);
}

Kernel::Refusal WantsDType(const ir::OpCall& call, int input, core::DType dtype) {
  if (call.dtype(input) == dtype) return std::nullopt;
  return core::StrCat("it takes ", core::Name(dtype), ", not ", core::Name(call.dtype(input)));
}

Kernel::Refusal WantsOneOf(const ir::OpCall& call, int input,
                           std::initializer_list<core::DType> dtypes) {
  std::string names;
  for (const core::DType dtype : dtypes) {
    if (call.dtype(input) == dtype) return std::nullopt;
    names += core::StrCat(names.empty() ? "" : " or ", core::Name(dtype));
  }
  return core::StrCat("it takes ", names, ", not ", core::Name(call.dtype(input)));
}

Kernel::Refusal WantsKnownSizes(const ir::OpCall& call) {
  for (const ir::OpCall::Input& input : call.all_inputs()) {
    if (input.given && !input.type.dims.is_static())
      return "its sizes must be known before it runs";
  }
  return std::nullopt;
}

}  // namespace rml::ops
