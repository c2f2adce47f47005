// The reference product of stored weights with f32 activations: dequantised, multiplied and summed
// in f64. Slow and right; the kernels are tested against it.
#pragma once

#include <cstdint>

#include "rml/core/dtype.h"

namespace rml::quant {

struct DotResult {
  double value;      // sum of w · x
  double magnitude;  // sum of |w · x|, the scale of rounding errors
};

DotResult DotReference(core::DType dtype, const void* weights, const float* x, int64_t count);

}  // namespace rml::quant
