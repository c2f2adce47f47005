// Rows of stored weights as f32: the definition of what each block type means.
#pragma once

#include <cstdint>

#include "rml/core/dtype.h"

namespace rml::quant {

// True for the dtypes that rows of weights may have: f32, f16, bf16 and the eight block types.
bool IsWeightDType(core::DType dtype);

// `count` elements (whole blocks) of a weight dtype, from `in` to out[count].
void Dequantize(core::DType dtype, const void* in, int64_t count, float* out);

}  // namespace rml::quant
