// The bf16 GEMM of CPUs with AVX512-BF16, private to float_gemm.cc. Activations are rounded to
// bf16, as weights are stored; products of pairs are summed in f32 (vdpbf16ps).
#pragma once

#include <cstddef>
#include <cstdint>

namespace rml::kernels {

inline constexpr int64_t kBf16PanelRows = 48;  // rows of w in a panel: three vectors

// One packed panel [pairs, 48] of pairs of bf16 weights against m rows of x, x_stride pairs apart:
// y[i * y_stride + r] (+)= sum over p of x[i, p] · panel[p, r], for r in [0, width).
using Bf16PanelFunction = void (*)(const uint32_t* panel, int64_t pairs, int64_t width,
                                   const uint32_t* x, int64_t x_stride, int64_t m, float* y,
                                   int64_t y_stride, bool add);

void Bf16PanelAvx512(const uint32_t* panel, int64_t pairs, int64_t width, const uint32_t* x,
                     int64_t x_stride, int64_t m, float* y, int64_t y_stride, bool add);

// As FloatGemmRange for bf16 weights, with a given panel kernel (tests pass an emulated one).
// scratch: kFloatGemmScratchBytes, aligned to 64.
void Bf16GemmRange(Bf16PanelFunction panel_times_x, const uint16_t* w, int64_t row_begin,
                   int64_t row_end, int64_t cols, const float* x, int64_t x_stride, int64_t m,
                   float* y, int64_t y_stride, bool accumulate, std::byte* scratch);

}  // namespace rml::kernels
