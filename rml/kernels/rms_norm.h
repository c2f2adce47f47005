// RMSNorm (Zhang and Sennrich 2019): y[i] = x[i] / sqrt(mean(x²) + eps) * weight[i].
//
// Squares are summed in f32, four partial vectors in a fixed order, and the partial sums in f64;
// the result for one row does not depend on its neighbours. y may be x; otherwise they do not
// overlap. Models that store weight - 1 (Gemma) have 1 added when they are loaded.
#pragma once

#include <cstdint>

namespace rml::kernels {

void RmsNorm(const float* x, const float* weight, float eps, int64_t n, float* y);

// The same for `rows` rows of n floats that start x_stride (y_stride) floats apart; the heads of
// one token, for models that norm q and k per head.
void RmsNormRows(const float* x, const float* weight, float eps, int64_t rows, int64_t n,
                 int64_t x_stride, float* y, int64_t y_stride);

void RmsNormReference(const float* x, const float* weight, float eps, int64_t n, float* y);

}  // namespace rml::kernels
