#include "rml/ops/wide.h"

#include <cstring>

#include "rml/core/convert.h"
#include "rml/quant/dequantize.h"

namespace rml::ops {

using core::DType;
using core::Expected;
using core::Status;
using core::Tensor;
using ir::RefCall;
using ir::WideType;

namespace {

// The array as a tensor of its wide dtype.
Expected<Tensor> View(const RefCall::Wide& wide, DType dtype) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(wide.words));
  return Tensor::Over(
      core::Buffer::WrapWritable({const_cast<std::byte*>(bytes.data()), bytes.size()}, nullptr),
      dtype, wide.shape);
}

DType DTypeOfWide(WideType type) {
  switch (type) {
    case WideType::kFloat:
      return DType::kF64;
    case WideType::kSigned:
      return DType::kI64;
    case WideType::kUnsigned:
      return DType::kU64;
    case WideType::kBool:
      break;
  }
  return DType::kBool;
}

}  // namespace

DType WideDType(DType dtype) { return DTypeOfWide(ir::WideTypeOf(dtype)); }

RefCall::Wide WideZeros(DType dtype, const core::Shape& shape) {
  RefCall::Wide wide;
  wide.type = ir::WideTypeOf(dtype);
  wide.shape = shape;
  const auto elements = static_cast<size_t>(shape.elements());
  // One word more than nothing, so that there is always an address.
  wide.words.resize((wide.type == WideType::kBool ? elements / 8 : elements) + 1);
  return wide;
}

Expected<RefCall::Wide> Widen(const Tensor& tensor) {
  RefCall::Wide wide = WideZeros(tensor.dtype(), tensor.shape());
  if (tensor.elements() == 0) return wide;
  RML_ASSIGN(const Tensor here, tensor.Contiguous(core::Cpu()));
  if (core::IsQuantized(tensor.dtype())) {
    RML_ASSIGN(const std::span<const std::byte> blocks, here.HostBytes());
    std::vector<float> values(static_cast<size_t>(here.elements()));
    quant::Dequantize(here.dtype(), blocks.data(), here.elements(), values.data());
    auto* const doubles = reinterpret_cast<double*>(wide.words.data());
    std::copy(values.begin(), values.end(), doubles);
    return wide;
  }
  RML_ASSIGN(const Tensor view, View(wide, DTypeOfWide(wide.type)));
  RML_TRY(core::ConvertTo(here, view));
  return wide;
}

Status Narrow(const RefCall::Wide& wide, const Tensor& tensor) {
  if (tensor.elements() == 0) return {};
  RML_ASSIGN(const Tensor view, View(wide, DTypeOfWide(wide.type)));
  if (&tensor.device() == &core::Cpu()) return core::ConvertTo(view, tensor);
  RML_ASSIGN(const Tensor here, core::Convert(view, tensor.dtype(), core::Cpu()));
  return here.CopyTo(tensor);
}

}  // namespace rml::ops
