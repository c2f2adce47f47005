#include "rml/kernels/float_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rml/kernels/softmax.cc"
#include "hwy/foreach_target.h"

#include "rml/kernels/float_map-inl.h"
#include "rml/kernels/float_math-inl.h"
#include "rml/kernels/softmax.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

struct ExpOf {
  HWY_INLINE VF operator()(VF x) const { return Exp(x); }
};

void ExpTarget(const float* x, int64_t n, float* y) { Map(x, n, y, ExpOf()); }

HWY_INLINE VF ScaledAndCapped(VF x, float scale, float soft_cap) {
  const DF d;
  const VF t = hn::Mul(x, hn::Set(d, scale));
  if (soft_cap == 0.0f) return t;
  const VF cap = hn::Set(d, soft_cap);
  return hn::Mul(cap, Tanh(hn::Div(t, cap)));
}

void SoftmaxTarget(const float* x, int64_t n, float* y, const SoftmaxOptions& options) {
  const DF d;
  // Pass 1: y = scaled x, and its maximum.
  const float lowest = -__builtin_inff();
  VF largest = hn::Set(d, lowest);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const VF t = ScaledAndCapped(hn::LoadU(d, x + i), options.scale, options.soft_cap);
    largest = hn::Max(largest, t);
    hn::StoreU(t, d, y + i);
  }
  if (i < n) {
    const VF t = ScaledAndCapped(LoadTail(d, x + i, n - i), options.scale, options.soft_cap);
    StoreTail(t, d, y + i, n - i);
    largest = hn::Max(largest, LoadTail(d, y + i, n - i, lowest));
  }
  // Pass 2: the exponentials and their sum.
  const VF shift = hn::Set(d, MaxLane(largest));
  VF sums[2] = {hn::Zero(d), hn::Zero(d)};
  i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const VF e0 = Exp(hn::Sub(hn::LoadU(d, y + i), shift));
    const VF e1 = Exp(hn::Sub(hn::LoadU(d, y + i + kLanes), shift));
    hn::StoreU(e0, d, y + i);
    hn::StoreU(e1, d, y + i + kLanes);
    sums[0] = hn::Add(sums[0], e0);
    sums[1] = hn::Add(sums[1], e1);
  }
  for (; i < n; i += kLanes) {
    const int64_t left = n - i < kLanes ? n - i : kLanes;
    const VF e = Exp(hn::Sub(LoadTail(d, y + i, left), shift));
    StoreTail(e, d, y + i, left);
    sums[0] = hn::Add(sums[0], LoadTail(d, y + i, left));
  }
  HWY_ALIGN float lanes[kLanes];
  hn::Store(hn::Add(sums[0], sums[1]), d, lanes);
  double total = 0;
  for (int64_t lane = 0; lane < kLanes; ++lane) total += static_cast<double>(lanes[lane]);
  // Pass 3.
  const VF inverse = hn::Set(d, static_cast<float>(1.0 / total));
  i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, y + i), inverse), d, y + i);
  }
  if (i < n) StoreTail(hn::Mul(LoadTail(d, y + i, n - i), inverse), d, y + i, n - i);
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <cmath>

namespace rml::kernels {

HWY_EXPORT(ExpTarget);
HWY_EXPORT(SoftmaxTarget);

void Exp(const float* x, int64_t n, float* y) { RML_SIMD_CALL(ExpTarget)(x, n, y); }

void Softmax(const float* x, int64_t n, float* y, const SoftmaxOptions& options) {
  RML_SIMD_CALL(SoftmaxTarget)(x, n, y, options);
}

void ExpReference(const float* x, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(std::exp(static_cast<double>(x[i])));
}

void SoftmaxReference(const float* x, int64_t n, float* y, const SoftmaxOptions& options) {
  const auto prepared = [&](int64_t i) {
    double t = static_cast<double>(x[i]) * options.scale;
    if (options.soft_cap != 0) t = options.soft_cap * std::tanh(t / options.soft_cap);
    return t;
  };
  double largest = prepared(0);
  for (int64_t i = 1; i < n; ++i) largest = std::max(largest, prepared(i));
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(prepared(i) - largest);
  for (int64_t i = 0; i < n; ++i) {  // x may be y: element i is read before it is written
    y[i] = static_cast<float>(std::exp(prepared(i) - largest) / sum);
  }
}

}  // namespace rml::kernels

#endif  // HWY_ONCE
