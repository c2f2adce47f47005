// The same bits as another dtype.
#include <bit>

#include "rml/core/half.h"
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

using core::DType;

constexpr ir::DTypeSet kCastable = ir::kNumbers | ir::kFloats8;

// The bits of a wide element as they are in a tensor of this dtype, at the low end. Through f32 and
// f64, a signalling NaN has become a quiet one.
uint64_t BitsOf(double x, DType dtype) {
  const auto narrow = static_cast<float>(x);
  switch (dtype) {
    case DType::kF64:
      return std::bit_cast<uint64_t>(x);
    case DType::kF32:
      return std::bit_cast<uint32_t>(narrow);
    case DType::kF16:
      return core::F32ToF16(narrow);
    case DType::kBF16:
      return core::F32ToBF16(narrow);
    case DType::kF8E4M3:
      return core::F32ToF8E4M3(narrow);
    default:
      return core::F32ToF8E5M2(narrow);
  }
}
uint64_t BitsOf(int64_t x, DType) { return static_cast<uint64_t>(x); }
uint64_t BitsOf(uint64_t x, DType) { return x; }

void FromBits(uint64_t bits, DType dtype, double* x) {
  switch (dtype) {
    case DType::kF64:
      *x = std::bit_cast<double>(bits);
      return;
    case DType::kF32:
      *x = std::bit_cast<float>(static_cast<uint32_t>(bits));
      return;
    case DType::kF16:
      *x = core::F16ToF32(static_cast<uint16_t>(bits));
      return;
    case DType::kBF16:
      *x = core::BF16ToF32(static_cast<uint16_t>(bits));
      return;
    case DType::kF8E4M3:
      *x = core::F8E4M3ToF32(static_cast<uint8_t>(bits));
      return;
    default:
      *x = core::F8E5M2ToF32(static_cast<uint8_t>(bits));
  }
}
// Integers keep their low bits when they are narrowed.
void FromBits(uint64_t bits, DType, int64_t* x) { *x = static_cast<int64_t>(bits); }
void FromBits(uint64_t bits, DType, uint64_t* x) { *x = bits; }

core::Status ReferenceBitcast(ir::RefCall& call) {
  const DType from = call.call().dtype(0);
  const auto to = call.call().attr<DType>("dtype");
  call.VisitNumber(0, [&](auto in_zero) {
    using From = decltype(in_zero);
    const auto x = call.in<From>(0);
    call.VisitOut(0, [&](auto out_zero) {
      using To = decltype(out_zero);
      if constexpr (!std::is_same_v<To, uint8_t>) {
        const auto y = call.out<To>(0);
        for (int64_t i = 0; i < y.size(); ++i) FromBits(BitsOf(x[i], from), to, &y[i]);
      }
    });
  });
  return {};
}

core::Status InferBitcast(const ir::OpCall& call, ir::Types* outputs) {
  const auto dtype = call.attr<DType>("dtype");
  if (!kCastable.Has(dtype))
    return core::Unsupported("dtype is ", core::Name(dtype), ", expected one of ",
                             kCastable.ToString());
  const int from = core::Info(call.dtype(0)).block_bytes;
  const int to = core::Info(dtype).block_bytes;
  if (from != to) {
    return core::InvalidArgument(core::Name(call.dtype(0)), " has ", from, " bytes and ",
                                 core::Name(dtype), " ", to);
  }
  outputs->push_back({dtype, call.input(0).dims});
  return {};
}

}  // namespace

ir::OpDef Bitcast() {
  ir::OpDef op;
  op.name = "bitcast";
  op.doc = "The bits of each element, read as another `dtype` of the same width.";
  op.inputs = {{"x"}};
  op.outputs = {{"y", "U"}};
  op.types = {{"T", kCastable}, {"U", kCastable}};
  op.attributes = {{"dtype", ir::RequiredAttr{DType::kF32}}};
  op.axes = ir::AxesRule(
      [](const ir::OpCall& call) -> core::Expected<ir::Axes> { return SameAxes(call, 1, {}); });
  op.infer = InferBitcast;
  op.reference = ReferenceBitcast;
  op.no_gradient = true;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const DType from : kCastable.list()) {
      for (const DType to : kCastable.list()) {
        if (core::Info(from).block_bytes != core::Info(to).block_bytes) continue;
        samples.push_back({{{{3, 5}, ir::Fill::Normal(0, 20), from}}, {{"dtype", to}}});
      }
    }
    samples.push_back({{{{0}, ir::Fill::Normal(), DType::kI32}}, {{"dtype", DType::kF32}}});
    return samples;
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
