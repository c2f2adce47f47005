// Between tensors and the wide arrays that references work on (rml/ir/ref_call.h).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "rml/core/expected.h"
#include "rml/core/tensor.h"
#include "rml/ir/ref_call.h"

namespace rml::ops {

// Any dtype, strides and device; block-quantised weights are dequantised.
core::Expected<ir::RefCall::Wide> Widen(const core::Tensor& tensor);
// An array of zeros for what an output of this type will hold.
ir::RefCall::Wide WideZeros(core::DType dtype, const core::Shape& shape);
// Rounds into a tensor of the same shape.
core::Status Narrow(const ir::RefCall::Wide& wide, const core::Tensor& tensor);

// The widest dtype of the same kind: f64, i64, u64, bool.
core::DType WideDType(core::DType dtype);

// One element in another dtype, with core::Convert's rules: a float becomes an integer of `to`
// without its fraction, saturated, NaN as 0. An integer is left as it is: on the way into the
// tensor core::Convert keeps its low bits.
template <typename From, typename To>
To CastWide(From x, core::DType to) {
  if constexpr (std::is_same_v<To, uint8_t>) return x != 0 ? 1 : 0;
  if constexpr (std::is_same_v<From, double> && std::is_integral_v<To>) {
    if (std::isnan(x)) return 0;
    const core::DTypeInfo& info = core::Info(to);
    const int bits = 8 * info.block_bytes / info.block_elements;
    const int digits = std::is_signed_v<To> ? bits - 1 : bits;
    const double limit = std::ldexp(1.0, digits);  // the first that is too large
    const To largest = digits >= 63 + (std::is_signed_v<To> ? 0 : 1)
                           ? std::numeric_limits<To>::max()
                           : static_cast<To>((uint64_t{1} << digits) - 1);
    if (x >= limit) return largest;
    if (std::is_signed_v<To> && x <= -limit) return static_cast<To>(-largest - 1);
    if (!std::is_signed_v<To> && x <= 0) return 0;
    return static_cast<To>(x);
  }
  return static_cast<To>(x);
}

}  // namespace rml::ops
