#include "rml/kernels/float_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rml/kernels/elementwise.cc"
#include "hwy/foreach_target.h"

#include "rml/kernels/elementwise.h"
#include "rml/kernels/float_map-inl.h"
#include "rml/kernels/float_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

struct Sum {
  HWY_INLINE VF operator()(VF a, VF b) const { return hn::Add(a, b); }
};
struct Product {
  HWY_INLINE VF operator()(VF a, VF b) const { return hn::Mul(a, b); }
};
struct Scaled {
  VF factor;
  HWY_INLINE VF operator()(VF x) const { return hn::Mul(x, factor); }
};
struct PlusScaled {
  VF factor;
  HWY_INLINE VF operator()(VF y, VF x) const { return hn::MulAdd(x, factor, y); }
};
struct Capped {
  VF cap;
  HWY_INLINE VF operator()(VF x) const { return hn::Mul(cap, Tanh(hn::Div(x, cap))); }
};
struct HyperbolicTangent {
  HWY_INLINE VF operator()(VF x) const { return Tanh(x); }
};

void AddTarget(const float* a, const float* b, int64_t n, float* y) { Map(a, b, n, y, Sum()); }
void MultiplyTarget(const float* a, const float* b, int64_t n, float* y) {
  Map(a, b, n, y, Product());
}
void ScaleTarget(const float* x, float factor, int64_t n, float* y) {
  Map(x, n, y, Scaled{hn::Set(DF(), factor)});
}
void AddScaledTarget(const float* x, float factor, int64_t n, float* y) {
  Map(y, x, n, y, PlusScaled{hn::Set(DF(), factor)});
}
void SoftCapTarget(const float* x, float cap, int64_t n, float* y) {
  Map(x, n, y, Capped{hn::Set(DF(), cap)});
}
void TanhTarget(const float* x, int64_t n, float* y) { Map(x, n, y, HyperbolicTangent()); }

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace rml::kernels {

HWY_EXPORT(AddTarget);
HWY_EXPORT(MultiplyTarget);
HWY_EXPORT(ScaleTarget);
HWY_EXPORT(AddScaledTarget);
HWY_EXPORT(SoftCapTarget);
HWY_EXPORT(TanhTarget);

void Add(const float* a, const float* b, int64_t n, float* y) {
  RML_SIMD_CALL(AddTarget)(a, b, n, y);
}
void Multiply(const float* a, const float* b, int64_t n, float* y) {
  RML_SIMD_CALL(MultiplyTarget)(a, b, n, y);
}
void Scale(const float* x, float factor, int64_t n, float* y) {
  RML_SIMD_CALL(ScaleTarget)(x, factor, n, y);
}
void AddScaled(const float* x, float factor, int64_t n, float* y) {
  RML_SIMD_CALL(AddScaledTarget)(x, factor, n, y);
}
void SoftCap(const float* x, float cap, int64_t n, float* y) {
  RML_SIMD_CALL(SoftCapTarget)(x, cap, n, y);
}
void Tanh(const float* x, int64_t n, float* y) { RML_SIMD_CALL(TanhTarget)(x, n, y); }

}  // namespace rml::kernels

#endif  // HWY_ONCE
