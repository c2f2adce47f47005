// Arrays from f32 to f16 and bf16 and back. Widening is exact. Narrowing rounds to nearest even,
// overflows to infinity and keeps NaNs (quiet); f16's subnormals are kept. The bits are those of
// core/half.h, at every ISA level. Inputs and outputs do not overlap.
#pragma once

#include <cstdint>

#include "rml/core/dtype.h"

namespace rml::kernels {

void F32ToF16(const float* x, int64_t n, uint16_t* y);
void F16ToF32(const uint16_t* x, int64_t n, float* y);
void F32ToBF16(const float* x, int64_t n, uint16_t* y);
void BF16ToF32(const uint16_t* x, int64_t n, float* y);

// The same, by dtype: f32 (a copy), f16 or bf16.
void ToF32(core::DType dtype, const void* x, int64_t n, float* y);
void FromF32(core::DType dtype, const float* x, int64_t n, void* y);

}  // namespace rml::kernels
