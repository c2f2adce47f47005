// Arithmetic on arrays of floats, element by element. The output may be an input.
#pragma once

#include <cstdint>

namespace rml::kernels {

// y[i] = a[i] + b[i].
void Add(const float* a, const float* b, int64_t n, float* y);

// y[i] = a[i] * b[i].
void Multiply(const float* a, const float* b, int64_t n, float* y);

// y[i] = x[i] * factor.
void Scale(const float* x, float factor, int64_t n, float* y);

// y[i] = y[i] + x[i] * factor, rounded once where the processor has FMA.
void AddScaled(const float* x, float factor, int64_t n, float* y);

// y[i] = cap * tanh(x[i] / cap), cap > 0; within 4 ulp.
void SoftCap(const float* x, float cap, int64_t n, float* y);

// y[i] = tanh(x[i]); within 4 ulp.
void Tanh(const float* x, int64_t n, float* y);

}  // namespace rml::kernels
