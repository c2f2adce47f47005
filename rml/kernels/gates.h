// The gated activations of MLPs: y[i] = act(gate[i]) * up[i].
//
// Each is computed in f32 from this library's exponential (within 2 ulp), in a form that keeps the
// relative error small where the activation tends to zero. y may be gate or up.
#pragma once

#include <cstdint>

namespace rml::kernels {

// silu(x) = x * sigmoid(x).
void SiluMul(const float* gate, const float* up, int64_t n, float* y);

// gelu_tanh(x) = x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x³))): "gelu_pytorch_tanh".
void GeluTanhMul(const float* gate, const float* up, int64_t n, float* y);

// gelu(x) = x/2 * (1 + erf(x / sqrt 2)).
void GeluErfMul(const float* gate, const float* up, int64_t n, float* y);

// Without a second factor.
void Silu(const float* x, int64_t n, float* y);
void GeluTanh(const float* x, int64_t n, float* y);
void GeluErf(const float* x, int64_t n, float* y);

// One element, in f64.
double SiluReference(double x);
double GeluTanhReference(double x);
double GeluErfReference(double x);

}  // namespace rml::kernels
