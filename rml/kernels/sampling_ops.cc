#include "rml/kernels/float_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rml/kernels/sampling_ops.cc"
#include "hwy/foreach_target.h"

#include "rml/kernels/float_math-inl.h"
#include "rml/kernels/sampling_ops.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

// Greater of the two, passing over NaNs in x.
HWY_INLINE VF MaxOf(VF largest, VF x) { return hn::IfThenElse(hn::Gt(x, largest), x, largest); }

float MaxTarget(const float* x, int64_t n) {
  const DF d;
  const VF lowest = hn::Set(d, -__builtin_inff());
  VF largest[4] = {lowest, lowest, lowest, lowest};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    RML_UNROLL
    for (int s = 0; s < 4; ++s) {
      largest[s] = MaxOf(largest[s], hn::LoadU(d, x + i + s * kLanes));
    }
  }
  for (; i + kLanes <= n; i += kLanes) largest[0] = MaxOf(largest[0], hn::LoadU(d, x + i));
  if (i < n) largest[0] = MaxOf(largest[0], LoadTail(d, x + i, n - i, -__builtin_inff()));
  return MaxLane(MaxOf(MaxOf(largest[0], largest[1]), MaxOf(largest[2], largest[3])));
}

// The first index whose element equals value; n when there is none.
int64_t FindTarget(const float* x, int64_t n, float value) {
  const DF d;
  const VF wanted = hn::Set(d, value);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const intptr_t lane = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, x + i), wanted));
    if (lane >= 0) return i + static_cast<int64_t>(lane);
  }
  for (; i < n; ++i) {
    if (x[i] == value) return i;
  }
  return n;
}

// Sum of e^(x - largest), in f64 over blocks whose sums are f32 vectors.
double SumOfExpTarget(const float* x, int64_t n, float largest) {
  const DF d;
  constexpr int64_t kBlock = 4096;
  const VF shift = hn::Set(d, largest);
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = n - begin < kBlock ? n : begin + kBlock;
    VF even = hn::Zero(d);
    VF odd = hn::Zero(d);
    int64_t i = begin;
    for (; i + 2 * kLanes <= end; i += 2 * kLanes) {
      even = hn::Add(even, ExpNonPositive(hn::Sub(hn::LoadU(d, x + i), shift)));
      odd = hn::Add(odd, ExpNonPositive(hn::Sub(hn::LoadU(d, x + i + kLanes), shift)));
    }
    for (; i < end; i += kLanes) {
      const int64_t left = end - i < kLanes ? end - i : kLanes;
      const VF v = LoadTail(d, x + i, left, -__builtin_inff());
      even = hn::Add(even, ExpNonPositive(hn::Sub(v, shift)));
    }
    HWY_ALIGN float lanes[kLanes];
    hn::Store(hn::Add(even, odd), d, lanes);
    for (int64_t lane = 0; lane < kLanes; ++lane) total += static_cast<double>(lanes[lane]);
  }
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cmath>
#include <limits>

namespace rml::kernels {

HWY_EXPORT(MaxTarget);
HWY_EXPORT(FindTarget);
HWY_EXPORT(SumOfExpTarget);

float Max(const float* x, int64_t n) { return RML_SIMD_CALL(MaxTarget)(x, n); }

int64_t Argmax(const float* x, int64_t n) {
  const int64_t found = RML_SIMD_CALL(FindTarget)(x, n, Max(x, n));
  return found < n ? found : -1;
}

float LogSumExp(const float* x, int64_t n) {
  const float largest = Max(x, n);
  if (std::isinf(largest)) return largest;
  const double sum = RML_SIMD_CALL(SumOfExpTarget)(x, n, largest);
  return static_cast<float>(static_cast<double>(largest) + std::log(sum));
}

int64_t ArgmaxReference(const float* x, int64_t n) {
  int64_t best = -1;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isnan(x[i]) && (best < 0 || x[i] > x[best])) best = i;
  }
  return best;
}

float LogSumExpReference(const float* x, int64_t n) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  if (std::isinf(largest)) return static_cast<float>(largest);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - largest);
  return static_cast<float>(largest + std::log(sum));
}

}  // namespace rml::kernels

#endif  // HWY_ONCE
