#include "rml/kernels/float_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rml/kernels/convert.cc"
#include "hwy/foreach_target.h"

#include "rml/kernels/convert.h"
#include "rml/kernels/float_map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

struct Same {
  HWY_INLINE VF operator()(VF x) const { return x; }
};

void F32ToF16Target(const float* x, int64_t n, uint16_t* y) {
  Map(x, n, reinterpret_cast<F16*>(y), Same());
}
void F16ToF32Target(const uint16_t* x, int64_t n, float* y) {
  Map(reinterpret_cast<const F16*>(x), n, y, Same());
}
void F32ToBF16Target(const float* x, int64_t n, uint16_t* y) {
  Map(x, n, reinterpret_cast<BF16*>(y), Same());
}
void BF16ToF32Target(const uint16_t* x, int64_t n, float* y) {
  Map(reinterpret_cast<const BF16*>(x), n, y, Same());
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>

#include "rml/core/check.h"

namespace rml::kernels {

HWY_EXPORT(F32ToF16Target);
HWY_EXPORT(F16ToF32Target);
HWY_EXPORT(F32ToBF16Target);
HWY_EXPORT(BF16ToF32Target);

void F32ToF16(const float* x, int64_t n, uint16_t* y) { RML_SIMD_CALL(F32ToF16Target)(x, n, y); }
void F16ToF32(const uint16_t* x, int64_t n, float* y) { RML_SIMD_CALL(F16ToF32Target)(x, n, y); }
void F32ToBF16(const float* x, int64_t n, uint16_t* y) { RML_SIMD_CALL(F32ToBF16Target)(x, n, y); }
void BF16ToF32(const uint16_t* x, int64_t n, float* y) { RML_SIMD_CALL(BF16ToF32Target)(x, n, y); }

void ToF32(core::DType dtype, const void* x, int64_t n, float* y) {
  if (n <= 0) return;
  switch (dtype) {
    case core::DType::kF32:
      std::memcpy(y, x, static_cast<size_t>(n) * sizeof(float));
      return;
    case core::DType::kF16:
      return F16ToF32(static_cast<const uint16_t*>(x), n, y);
    case core::DType::kBF16:
      return BF16ToF32(static_cast<const uint16_t*>(x), n, y);
    default:
      RML_CHECK(!"ToF32 knows f32, f16 and bf16");
  }
}

void FromF32(core::DType dtype, const float* x, int64_t n, void* y) {
  if (n <= 0) return;
  switch (dtype) {
    case core::DType::kF32:
      std::memcpy(y, x, static_cast<size_t>(n) * sizeof(float));
      return;
    case core::DType::kF16:
      return F32ToF16(x, n, static_cast<uint16_t*>(y));
    case core::DType::kBF16:
      return F32ToBF16(x, n, static_cast<uint16_t*>(y));
    default:
      RML_CHECK(!"FromF32 knows f32, f16 and bf16");
  }
}

}  // namespace rml::kernels

#endif  // HWY_ONCE
