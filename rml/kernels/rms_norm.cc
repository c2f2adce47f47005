#include "rml/kernels/float_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rml/kernels/rms_norm.cc"
#include "hwy/foreach_target.h"

#include "rml/kernels/float_simd-inl.h"
#include "rml/kernels/rms_norm.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

// The sum of squares, from four vectors of partial sums.
HWY_INLINE double SumOfSquares(const float* x, int64_t n) {
  const DF d;
  constexpr int kSums = 4;
  VF sums[kSums];
  RML_UNROLL
  for (int s = 0; s < kSums; ++s) sums[s] = hn::Zero(d);
  int64_t i = 0;
  for (; i + kSums * kLanes <= n; i += kSums * kLanes) {
    RML_UNROLL
    for (int s = 0; s < kSums; ++s) {
      const VF v = hn::LoadU(d, x + i + s * kLanes);
      sums[s] = hn::MulAdd(v, v, sums[s]);
    }
  }
  for (; i < n; i += kLanes) {
    const VF v = n - i >= kLanes ? hn::LoadU(d, x + i) : LoadTail(d, x + i, n - i);
    sums[0] = hn::MulAdd(v, v, sums[0]);
  }
  HWY_ALIGN float lanes[kLanes];
  hn::Store(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])), d, lanes);
  double total = 0;
  for (int64_t lane = 0; lane < kLanes; ++lane) total += static_cast<double>(lanes[lane]);
  return total;
}

void RmsNormRowsTarget(const float* x, const float* weight, float eps, int64_t rows, int64_t n,
                       int64_t x_stride, float* y, int64_t y_stride) {
  const DF d;
  for (int64_t row = 0; row < rows; ++row, x += x_stride, y += y_stride) {
    const double mean = SumOfSquares(x, n) / static_cast<double>(n);
    const VF scale =
        hn::Set(d, static_cast<float>(1.0 / __builtin_sqrt(mean + static_cast<double>(eps))));
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(d, x + i), scale), hn::LoadU(d, weight + i)), d, y + i);
    }
    if (i < n) {
      const VF v = hn::Mul(LoadTail(d, x + i, n - i), scale);
      StoreTail(hn::Mul(v, LoadTail(d, weight + i, n - i)), d, y + i, n - i);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cmath>

namespace rml::kernels {

HWY_EXPORT(RmsNormRowsTarget);

void RmsNormRows(const float* x, const float* weight, float eps, int64_t rows, int64_t n,
                 int64_t x_stride, float* y, int64_t y_stride) {
  RML_SIMD_CALL(RmsNormRowsTarget)(x, weight, eps, rows, n, x_stride, y, y_stride);
}

void RmsNorm(const float* x, const float* weight, float eps, int64_t n, float* y) {
  RmsNormRows(x, weight, eps, 1, n, n, y, n);
}

void RmsNormReference(const float* x, const float* weight, float eps, int64_t n, float* y) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  const double scale = 1.0 / std::sqrt(sum / static_cast<double>(n) + static_cast<double>(eps));
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i] * scale * weight[i]);
}

}  // namespace rml::kernels

#endif  // HWY_ONCE
