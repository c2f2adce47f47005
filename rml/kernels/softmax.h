// Softmax and the exponential it stands on.
//
// Exp is within 2 ulp of e^x everywhere, subnormal results included; NaN stays NaN, and it
// saturates to infinity and zero. Softmax subtracts the largest element, so no finite input
// overflows; sums are f32 partial vectors added in f64. y may be x.
#pragma once

#include <cstdint>

namespace rml::kernels {

void Exp(const float* x, int64_t n, float* y);

struct SoftmaxOptions {
  float scale = 1.0f;     // multiplies x first
  float soft_cap = 0.0f;  // then x = cap * tanh(x / cap); 0: none
};

// y[i] = e^{t[i] - max t} / sum, t being the scaled, capped x. Elements of -infinity give 0; when
// all are, the result is NaN. n > 0.
void Softmax(const float* x, int64_t n, float* y, const SoftmaxOptions& options = {});

void ExpReference(const float* x, int64_t n, float* y);
void SoftmaxReference(const float* x, int64_t n, float* y, const SoftmaxOptions& options = {});

}  // namespace rml::kernels
