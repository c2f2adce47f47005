// Rows of f32 to stored weights, with the scales that llama.cpp's default algorithms choose (no
// importance matrix).
//
// Tolerance against llama.cpp: Q8_0, Q4_0, Q4_1, Q5_0, Q5_1 give the same bytes. The K types search
// for scales in f32, where the order of additions decides between near ties: at most 1 in 1000
// elements' codes differ, and the squared error of a row is within 0.1% of llama.cpp's.
#pragma once

#include <cstdint>

#include "rml/core/dtype.h"

namespace rml::quant {

// in[count] (whole blocks, finite values) to a weight dtype; out has StorageBytes(dtype, count).
void Quantize(core::DType dtype, const float* in, int64_t count, void* out);

}  // namespace rml::quant
