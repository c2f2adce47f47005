// Integer arithmetic on sizes that come from outside: every function says whether the result fits.
#pragma once

#include <concepts>

namespace rml::core {

// Each returns false, leaving *out unspecified, when the exact result does not fit in T.
template <std::integral T>
[[nodiscard]] constexpr bool CheckedAdd(T a, T b, T* out) {
  return !__builtin_add_overflow(a, b, out);
}
template <std::integral T>
[[nodiscard]] constexpr bool CheckedMul(T a, T b, T* out) {
  return !__builtin_mul_overflow(a, b, out);
}

// Rounds up to a multiple of `unit` (> 0).
template <std::unsigned_integral T>
[[nodiscard]] constexpr bool CheckedRoundUp(T value, T unit, T* out) {
  T padded = 0;
  if (!CheckedAdd<T>(value, unit - 1, &padded)) return false;
  *out = padded / unit * unit;
  return true;
}

template <std::integral T>
constexpr T CeilDiv(T a, T b) {
  return (a + b - 1) / b;
}
template <std::integral T>
constexpr T RoundUp(T value, T unit) {
  return CeilDiv(value, unit) * unit;
}

}  // namespace rml::core
