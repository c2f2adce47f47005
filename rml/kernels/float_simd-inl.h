// What the float kernels share, compiled once per target: loads that widen f16 and bf16 to f32,
// stores that narrow, tails of arrays, and horizontal sums. Raw pointers and no std algorithms, so
// that no code of a higher target can be linked in place of the baseline's.

// Included once per target: the guard is toggled by hwy/foreach_target.h.
#if defined(RML_KERNELS_FLOAT_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef RML_KERNELS_FLOAT_SIMD_INL_H_
#undef RML_KERNELS_FLOAT_SIMD_INL_H_
#else
#define RML_KERNELS_FLOAT_SIMD_INL_H_
#endif

#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DU = hn::RebindToUnsigned<DF>;
using VF = hn::Vec<DF>;
using F16 = hwy::float16_t;
using BF16 = hwy::bfloat16_t;

// Lanes of a vector of floats: 4, 8 or 16; no scalable target is compiled.
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(DF()));

// ---- f16 and bf16 to f32, exactly; NaNs keep their sign and payload.

template <class D>
HWY_INLINE hn::Vec<D> LoadF32(D d, const float* p) {
  return hn::LoadU(d, p);
}

template <class D>
HWY_INLINE hn::Vec<D> LoadF32(D d, const BF16* p) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint16_t, D> d16;
  const auto bits = hn::PromoteTo(du, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(p)));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}

template <class D>
HWY_INLINE hn::Vec<D> LoadF32(D d, const F16* p) {
#if HWY_TARGET == HWY_SSE4  // no F16C
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint16_t, D> d16;
  const auto bits = hn::PromoteTo(du, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(p)));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7fffu)));
  // Rebias the exponent by a multiplication, which also normalises f16's subnormals.
  const auto scaled =
      hn::Mul(hn::BitCast(d, magnitude), hn::BitCast(d, hn::Set(du, (254u - 15u) << 23)));
  const auto special = hn::Ge(hn::BitCast(d, magnitude), hn::BitCast(d, hn::Set(du, 31u << 23)));
  const auto infinite =
      hn::And(hn::BitCast(du, hn::VecFromMask(d, special)), hn::Set(du, 0xffu << 23));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000u)));
  return hn::BitCast(d, hn::Or(hn::Or(hn::BitCast(du, scaled), infinite), sign));
#else
  const hn::Rebind<F16, D> d16;
  return hn::PromoteTo(d, hn::LoadU(d16, p));
#endif
}

// ---- f32 to f16 and bf16, to nearest even; NaNs stay NaNs (quiet).

template <class D>
HWY_INLINE void StoreF32(hn::Vec<D> v, D d, float* p) {
  hn::StoreU(v, d, p);
}

template <class D>
HWY_INLINE void StoreF32(hn::Vec<D> v, D /*d*/, BF16* p) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint16_t, D> d16;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu)));
  const auto quiet = hn::Or(bits, hn::Set(du, 0x400000u));
  const auto is_nan = hn::RebindMask(du, hn::IsNaN(v));
  const auto result = hn::ShiftRight<16>(hn::IfThenElse(is_nan, quiet, rounded));
  // The values fit 16 bits; the saturating narrowing wants them signed, so sign-extend first.
  const hn::RebindToSigned<D> di;
  const hn::Rebind<int16_t, D> di16;
  const auto extended = hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(di, result)));
  hn::StoreU(hn::BitCast(d16, hn::DemoteTo(di16, extended)), d16, reinterpret_cast<uint16_t*>(p));
}

template <class D>
HWY_INLINE void StoreF32(hn::Vec<D> v, [[maybe_unused]] D d, F16* p) {
#if HWY_TARGET == HWY_SSE4  // no F16C
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<int16_t, D> di16;
  const auto bits = hn::BitCast(du, v);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffu));
  const auto fmagnitude = hn::BitCast(d, magnitude);
  // Normal results: move the exponent's bias and round the 13 bits that go, to nearest even.
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
  const auto rebias = hn::Set(du, (static_cast<uint32_t>(15 - 127) << 23) + 0xfffu);
  const auto normal = hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(rebias, odd)));
  // Subnormal results: adding 2^-1 puts the last place where f16's is, and the FPU rounds.
  const auto half = hn::Set(du, (127u - 1u) << 23);
  const auto tiny = hn::Sub(hn::BitCast(du, hn::Add(fmagnitude, hn::BitCast(d, half))), half);
  const auto is_tiny = hn::Lt(fmagnitude, hn::Set(d, 6.103515625e-05f));  // 2^-14
  auto result = hn::IfThenElse(hn::RebindMask(du, is_tiny), tiny, normal);
  const auto is_large = hn::Ge(fmagnitude, hn::Set(d, 65536.0f));
  result = hn::IfThenElse(hn::RebindMask(du, is_large), hn::Set(du, 0x7c00u), result);
  const auto nan =
      hn::Or(hn::Set(du, 0x7e00u), hn::And(hn::ShiftRight<13>(bits), hn::Set(du, 0x1ffu)));
  result = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), nan, result);
  result = hn::Or(result, hn::ShiftRight<16>(hn::And(bits, hn::Set(du, 0x80000000u))));
  const auto extended = hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(di, result)));
  hn::StoreU(hn::DemoteTo(di16, extended), di16, reinterpret_cast<int16_t*>(p));
#else
  const hn::Rebind<F16, D> d16;
  hn::StoreU(hn::DemoteTo(d16, v), d16, p);
#endif
}

// ---- The last n < kLanes elements of an array. Missing lanes read as `fill`.

template <class D, class T>
HWY_INLINE hn::Vec<D> LoadTail(D d, const T* p, int64_t n, float fill = 0.0f) {
  HWY_ALIGN float lanes[hn::MaxLanes(D())];
  hn::Store(hn::Set(d, fill), d, lanes);
  HWY_ALIGN T narrow[hn::MaxLanes(D())] = {};
  for (int64_t i = 0; i < n; ++i) narrow[i] = p[i];
  HWY_ALIGN float wide[hn::MaxLanes(D())];
  hn::Store(LoadF32(d, narrow), d, wide);
  for (int64_t i = 0; i < n; ++i) lanes[i] = wide[i];
  return hn::Load(d, lanes);
}

template <class D, class T>
HWY_INLINE void StoreTail(hn::Vec<D> v, D d, T* p, int64_t n) {
  HWY_ALIGN T narrow[hn::MaxLanes(D())];
  StoreF32(v, d, narrow);
  for (int64_t i = 0; i < n; ++i) p[i] = narrow[i];
}

// Asks for the cache lines of `count` elements from p on; they need not exist.
template <class T>
HWY_INLINE void PrefetchElements(const T* p, int64_t count) {
  constexpr int64_t kStep = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; i += kStep) hwy::Prefetch(p + i);
}

// The sum of all lanes, in every target by halving, so that the order is fixed.
HWY_INLINE float SumLanes(VF v) { return hn::GetLane(hn::SumOfLanes(DF(), v)); }
HWY_INLINE float MaxLane(VF v) { return hn::GetLane(hn::MaxOfLanes(DF(), v)); }

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
