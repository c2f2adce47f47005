// Convert: element values from one dtype to another, on the host, for any strides.
//
//   float -> float      rounds once, to nearest, ties to even; beyond the range: infinity
//                       (f8_e4m3: NaN)
//   integer -> float    rounds once
//   float -> integer    cuts the fraction off and saturates; NaN becomes 0
//   integer -> integer  keeps the low bits, as C++, NumPy, PyTorch and ONNX do (i4 and u4 too)
//   to bool             whatever is not zero is true (NaN too); from bool: 0 or 1
//
// Quantised block dtypes need a choice of scales and live in rml/quant: here they are Unsupported.
#pragma once

#include "rml/core/allocator.h"
#include "rml/core/expected.h"
#include "rml/core/tensor.h"

namespace rml::core {

// Writes the values of `from` to `to`, of the same shape. The two must not overlap.
Status ConvertTo(const Tensor& from, const Tensor& to);

// A new contiguous tensor of `dtype`.
Expected<Tensor> Convert(const Tensor& from, DType dtype, Allocator& allocator);

}  // namespace rml::core
