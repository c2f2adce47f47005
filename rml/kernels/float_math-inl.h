// Vector forms of exp, tanh and the normal distribution function, compiled once per target.
//
// The polynomials are minimax fits of this project (Lawson's iteration, relative error); none adds
// more than 0.12 ulp to the rounding of the f32 operations themselves.

#if defined(RML_KERNELS_FLOAT_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef RML_KERNELS_FLOAT_MATH_INL_H_
#undef RML_KERNELS_FLOAT_MATH_INL_H_
#else
#define RML_KERNELS_FLOAT_MATH_INL_H_
#endif

#include "rml/kernels/float_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

// e^x = 2^n * e^r with n = round(x / ln 2), |r| <= ln(2) / 2. Returns e^r; the low bits of *biased
// hold n (as an integer added to a float whose last place is one).
HWY_INLINE VF ExpReduced(VF x, hn::Vec<DI>* biased) {
  const DF d;
  const DI di;
  const VF shift = hn::Set(d, 12582912.0f);  // 1.5 * 2^23
  const VF rounded = hn::MulAdd(x, hn::Set(d, 1.44269504088896341f), shift);
  const VF n = hn::Sub(rounded, shift);
  *biased = hn::BitCast(di, rounded);
  // ln 2 in two parts; n times the first is exact.
  VF r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440054690583e-4f), r);
  VF p = hn::Set(d, 0.0013814602280035615f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.008368715643882751f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.04166838899254799f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.1666652113199234f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.4999999403953552f));
  p = hn::MulAdd(p, hn::Mul(r, r), r);
  return hn::Add(p, hn::Set(d, 1.0f));
}

// 2^n for n in [-126, 127].
HWY_INLINE VF PowerOfTwo(hn::Vec<DI> n) {
  const DI di;
  return hn::BitCast(DF(), hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// x between the bounds; NaN stays NaN. On x86 that comes by itself: the second operand is returned
// where one is NaN. On Arm the number is.
HWY_INLINE VF Clamp(float low, float high, VF x) {
  const DF d;
  const VF bounded = hn::Min(hn::Set(d, high), hn::Max(hn::Set(d, low), x));
#if HWY_ARCH_ARM
  return hn::IfThenElse(hn::Eq(x, x), bounded, x);
#else
  return bounded;
#endif
}

// e^x, within 2 ulp; subnormal results, infinities and NaN included.
HWY_INLINE VF Exp(VF x) {
  const DF d;
  const DI di;
  const VF bounded = Clamp(-104.0f, 89.0f, x);  // beyond these the result is 0 or infinity anyway
  hn::Vec<DI> biased;
  const VF mantissa = ExpReduced(bounded, &biased);
  // Two factors, since 2^n itself may overflow or be subnormal.
  const auto n = hn::Sub(biased, hn::BitCast(di, hn::Set(d, 12582912.0f)));
  const auto half = hn::ShiftRight<1>(n);
  return hn::Mul(hn::Mul(mantissa, PowerOfTwo(half)), PowerOfTwo(hn::Sub(n, half)));
}

// e^x for x <= 0, where results below the smallest normal float become 0. -infinity gives 0.
HWY_INLINE VF ExpNonPositive(VF x) {
  const DF d;
  const VF lowest = hn::Set(d, -87.33654f);  // ln of the smallest normal float
  hn::Vec<DI> biased;
  const VF mantissa = ExpReduced(hn::Max(lowest, x), &biased);
  // The shift leaves of `biased` only n's low bits, in the place of the exponent.
  const auto exponent = hn::ShiftLeft<23>(biased);
  const VF scale = hn::BitCast(d, hn::Add(exponent, hn::BitCast(DI(), hn::Set(d, 1.0f))));
  return hn::IfThenZeroElse(hn::Lt(x, lowest), hn::Mul(mantissa, scale));
}

// tanh(x), within 4 ulp.
HWY_INLINE VF Tanh(VF x) {
  const DF d;
  const VF one = hn::Set(d, 1.0f);
  const VF a = hn::Abs(x);
  const VF s = hn::Mul(x, x);
  VF p = hn::Set(d, 0.0021429613698273897f);
  p = hn::MulAdd(p, s, hn::Set(d, -0.008177397772669792f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.021700702607631683f));
  p = hn::MulAdd(p, s, hn::Set(d, -0.05394676327705383f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.1333320587873459f));
  p = hn::MulAdd(p, s, hn::Set(d, -0.3333333134651184f));
  const VF near = hn::MulAdd(hn::Mul(p, s), x, x);
  const VF e = Exp(hn::Add(a, a));
  const VF far = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(e, one)));
  return hn::CopySign(hn::IfThenElse(hn::Lt(a, hn::Set(d, 0.625f)), near, far), x);  // -0 too
}

// x * sigmoid(t): both SiLU (t = x) and GELU's tanh form are of this kind.
HWY_INLINE VF TimesSigmoid(VF x, VF t) {
  const VF one = hn::Set(DF(), 1.0f);
  return hn::Div(x, hn::Add(one, Exp(hn::Neg(t))));
}

HWY_INLINE VF Silu(VF x) { return TimesSigmoid(x, x); }

HWY_INLINE VF GeluTanh(VF x) {
  const DF d;
  // (1 + tanh u) / 2 = sigmoid(2u), which does not cancel where u is very negative.
  const VF inner = hn::MulAdd(hn::Mul(hn::Set(d, 0.044715f), hn::Mul(x, x)), x, x);
  return TimesSigmoid(x, hn::Mul(inner, hn::Set(d, 1.5957691216057308f)));  // 2 sqrt(2 / pi)
}

HWY_INLINE VF GeluErf(VF x) {
  const DF d;
  const VF one = hn::Set(d, 1.0f);
  // Beyond 20 the result is x or 0; squares of what is far beyond would overflow.
  const VF bounded = Clamp(-20.0f, 20.0f, x);
  // erfc(a) = e^{-a²} t P(t) with t = 1 / (1 + 0.35 a), a = |x| / sqrt 2.
  const VF a = hn::Mul(hn::Abs(bounded), hn::Set(d, 0.70710678118654752f));
  const VF t = hn::Div(one, hn::MulAdd(a, hn::Set(d, 0.35f), one));
  VF p = hn::Set(d, 0.037776168435811996f);
  p = hn::MulAdd(p, t, hn::Set(d, -0.15541836619377136f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.17289535701274872f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.015804028138518333f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.07666102796792984f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.15188738703727722f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.1490507274866104f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.1883886754512787f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.19707579910755157f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.1974872350692749f));
  // x²/2 rounds; where it is large the rounding error matters, and FMA gives it back.
  const VF half_x = hn::Mul(bounded, hn::Set(d, 0.5f));
  const VF square = hn::Mul(half_x, bounded);
  const VF error = hn::MulSub(half_x, bounded, square);
  const VF e = Exp(hn::Neg(square));
  const VF tail =
      hn::Mul(hn::Set(d, 0.5f), hn::Mul(hn::Mul(t, p), hn::NegMulAdd(e, error, e)));  // Phi(-|x|)
  const VF phi = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail));
  return hn::Mul(x, phi);
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
