// Products with float weights: y[i, r] (+)= sum over c of x[i, c] * w[r, c], for f32, f16 and bf16
// weights [rows, cols] in row-major order and f32 activations [m, cols].
//
// Few activations (m <= kFloatGemvMaxM) stream the weights once, several rows at a time: the memory
// is the limit. Many run a packed, register-blocked GEMM: the FMA units are. Weights are widened to
// f32 and sums are taken in f32, in an order that depends on cols and on which of the two forms
// runs, never on row_begin and row_end: any split over threads gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rml/core/dtype.h"

namespace rml::kernels {

// Bytes of scratch that one call needs, whatever its shapes (a packed panel of weights; it is
// written and read by that call only). No alignment is asked for.
inline constexpr size_t kFloatGemmScratchBytes = (size_t{128} * 256 + 64) * sizeof(float);

// Up to this many activation rows the streaming form runs; it needs no scratch.
inline constexpr int64_t kFloatGemvMaxM = 6;

inline constexpr bool IsFloatGemmDType(core::DType dtype) {
  return dtype == core::DType::kF32 || dtype == core::DType::kF16 || dtype == core::DType::kBF16;
}

// Rows [row_begin, row_end) of the weights: writes (accumulate: adds to) y[i * y_stride + r] for
// those r and every i in [0, m). `w` points at row 0, whose elements and those of all rows are
// contiguous; x row i starts at x + i * x_stride, strides count floats. y must not overlap x or w.
// On a CPU with AVX512-BF16, bf16 weights meet activations that are rounded to bf16 when m is
// large.
void FloatGemmRange(core::DType w_dtype, const void* w, int64_t row_begin, int64_t row_end,
                    int64_t cols, const float* x, int64_t x_stride, int64_t m, float* y,
                    int64_t y_stride, bool accumulate, std::span<std::byte> scratch);

// The meaning, in one readable loop with f64 sums; what the tests compare with.
void FloatGemmReference(core::DType w_dtype, const void* w, int64_t rows, int64_t cols,
                        const float* x, int64_t x_stride, int64_t m, float* y, int64_t y_stride,
                        bool accumulate);

}  // namespace rml::kernels
