// Which C++ type holds one element of a dtype. Packed dtypes (4-bit integers, quantised blocks)
// have none: they are read as bytes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rml/core/dtype.h"
#include "rml/core/half.h"

namespace rml::core {

template <typename T>
struct DTypeOf;  // ::value, for the types below

#define RML_DTYPE_OF(Type, dtype) \
  template <>                     \
  struct DTypeOf<Type> : std::integral_constant<DType, DType::dtype> {}
RML_DTYPE_OF(double, kF64);
RML_DTYPE_OF(float, kF32);
RML_DTYPE_OF(F16, kF16);
RML_DTYPE_OF(BF16, kBF16);
RML_DTYPE_OF(F8E4M3, kF8E4M3);
RML_DTYPE_OF(F8E5M2, kF8E5M2);
RML_DTYPE_OF(int64_t, kI64);
RML_DTYPE_OF(int32_t, kI32);
RML_DTYPE_OF(int16_t, kI16);
RML_DTYPE_OF(int8_t, kI8);
RML_DTYPE_OF(uint64_t, kU64);
RML_DTYPE_OF(uint32_t, kU32);
RML_DTYPE_OF(uint16_t, kU16);
RML_DTYPE_OF(uint8_t, kU8);
RML_DTYPE_OF(bool, kBool);
#undef RML_DTYPE_OF

// Booleans are read as bytes: a file may hold values other than 0 and 1, which a C++ bool may not.
template <typename T>
constexpr bool CanRead(DType dtype) {
  return dtype == DTypeOf<T>::value || (std::is_same_v<T, uint8_t> && dtype == DType::kBool);
}

}  // namespace rml::core
