#include "rml/kernels/float_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rml/kernels/gates.cc"
#include "hwy/foreach_target.h"

#include "rml/kernels/float_map-inl.h"
#include "rml/kernels/float_math-inl.h"
#include "rml/kernels/gates.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

struct SiluOf {
  HWY_INLINE VF operator()(VF x) const { return Silu(x); }
  HWY_INLINE VF operator()(VF gate, VF up) const { return hn::Mul(Silu(gate), up); }
};
struct GeluTanhOf {
  HWY_INLINE VF operator()(VF x) const { return GeluTanh(x); }
  HWY_INLINE VF operator()(VF gate, VF up) const { return hn::Mul(GeluTanh(gate), up); }
};
struct GeluErfOf {
  HWY_INLINE VF operator()(VF x) const { return GeluErf(x); }
  HWY_INLINE VF operator()(VF gate, VF up) const { return hn::Mul(GeluErf(gate), up); }
};

void SiluMulTarget(const float* gate, const float* up, int64_t n, float* y) {
  Map(gate, up, n, y, SiluOf());
}
void GeluTanhMulTarget(const float* gate, const float* up, int64_t n, float* y) {
  Map(gate, up, n, y, GeluTanhOf());
}
void GeluErfMulTarget(const float* gate, const float* up, int64_t n, float* y) {
  Map(gate, up, n, y, GeluErfOf());
}
void SiluTarget(const float* x, int64_t n, float* y) { Map(x, n, y, SiluOf()); }
void GeluTanhTarget(const float* x, int64_t n, float* y) { Map(x, n, y, GeluTanhOf()); }
void GeluErfTarget(const float* x, int64_t n, float* y) { Map(x, n, y, GeluErfOf()); }

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cmath>

namespace rml::kernels {

HWY_EXPORT(SiluMulTarget);
HWY_EXPORT(GeluTanhMulTarget);
HWY_EXPORT(GeluErfMulTarget);
HWY_EXPORT(SiluTarget);
HWY_EXPORT(GeluTanhTarget);
HWY_EXPORT(GeluErfTarget);

void SiluMul(const float* gate, const float* up, int64_t n, float* y) {
  RML_SIMD_CALL(SiluMulTarget)(gate, up, n, y);
}
void GeluTanhMul(const float* gate, const float* up, int64_t n, float* y) {
  RML_SIMD_CALL(GeluTanhMulTarget)(gate, up, n, y);
}
void GeluErfMul(const float* gate, const float* up, int64_t n, float* y) {
  RML_SIMD_CALL(GeluErfMulTarget)(gate, up, n, y);
}
void Silu(const float* x, int64_t n, float* y) { RML_SIMD_CALL(SiluTarget)(x, n, y); }
void GeluTanh(const float* x, int64_t n, float* y) { RML_SIMD_CALL(GeluTanhTarget)(x, n, y); }
void GeluErf(const float* x, int64_t n, float* y) { RML_SIMD_CALL(GeluErfTarget)(x, n, y); }

double SiluReference(double x) { return x / (1.0 + std::exp(-x)); }

double GeluTanhReference(double x) {
  const double u = std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x);
  return x / (1.0 + std::exp(-2.0 * u));  // (1 + tanh u) / 2, without its cancellation
}

double GeluErfReference(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }

}  // namespace rml::kernels

#endif  // HWY_ONCE
