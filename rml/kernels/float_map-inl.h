// Applies a vector function to arrays, element by element, compiled once per target. The tail goes
// through the same vector code, so an element's result does not depend on where in the array it is.

#if defined(RML_KERNELS_FLOAT_MAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef RML_KERNELS_FLOAT_MAP_INL_H_
#undef RML_KERNELS_FLOAT_MAP_INL_H_
#else
#define RML_KERNELS_FLOAT_MAP_INL_H_
#endif

#include "rml/kernels/float_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

// y[i] = f(x[i]); x and y may be of any float type that LoadF32 and StoreF32 know.
template <class X, class Y, class F>
HWY_INLINE void Map(const X* x, int64_t n, Y* y, F f) {
  const DF d;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) StoreF32(f(LoadF32(d, x + i)), d, y + i);
  if (i < n) StoreTail(f(LoadTail(d, x + i, n - i)), d, y + i, n - i);
}

// y[i] = f(a[i], b[i]).
template <class F>
HWY_INLINE void Map(const float* a, const float* b, int64_t n, float* y, F f) {
  const DF d;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(f(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  }
  if (i < n) StoreTail(f(LoadTail(d, a + i, n - i), LoadTail(d, b + i, n - i)), d, y + i, n - i);
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
