#include "rml/core/half.h"

#include <cmath>

namespace rml::core {

namespace {

// A float of `kExponentBits` and `kMantissaBits` with IEEE's subnormals, decoded by the definition.
template <int kExponentBits, int kMantissaBits>
float DecodeIeee(uint32_t bits) {
  constexpr uint32_t kMantissaMask = (1u << kMantissaBits) - 1;
  constexpr uint32_t kExponentMask = (1u << kExponentBits) - 1;
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  const uint32_t mantissa = bits & kMantissaMask;
  const uint32_t exponent = (bits >> kMantissaBits) & kExponentMask;
  const uint32_t sign = (bits >> (kExponentBits + kMantissaBits)) << 31;
  if (exponent == kExponentMask) {  // infinity or NaN: keep the payload
    return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << (23 - kMantissaBits)));
  }
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(mantissa), 1 - kBias - kMantissaBits)
                              : std::ldexp(static_cast<float>(mantissa | (kMantissaMask + 1)),
                                           static_cast<int>(exponent) - kBias - kMantissaBits);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
}

// |value| in units of the format's last place at its exponent, rounded to nearest even and encoded
// as exponent and mantissa bits; a carry out of the mantissa moves into the exponent by itself.
template <int kExponentBits, int kMantissaBits>
uint32_t EncodeMagnitude(float magnitude) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude in [2^(exponent-1), 2^exponent)
  int biased = exponent - 1 + kBias;
  if (magnitude == 0 || biased < 1) biased = 1;  // zero and subnormals share the smallest exponent
  const float steps = std::ldexp(magnitude, kBias + kMantissaBits - biased);
  const auto rounded = static_cast<uint32_t>(std::nearbyint(steps));
  // A normal number has its hidden bit in `rounded`, which adds one to the exponent field.
  return (static_cast<uint32_t>(biased - 1) << kMantissaBits) + rounded;
}

}  // namespace

float F16ToF32(uint16_t bits) { return DecodeIeee<5, 10>(bits); }

uint16_t F32ToF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00u | ((bits >> 13) & 0x1ffu));
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds past 65504
  return static_cast<uint16_t>(sign | EncodeMagnitude<5, 10>(magnitude));
}

uint16_t F32ToBF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  bits += 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<uint16_t>(bits >> 16);
}

float F8E5M2ToF32(uint8_t bits) { return DecodeIeee<5, 2>(bits); }

uint8_t F32ToF8E5M2(float value) {
  const uint32_t sign = (std::bit_cast<uint32_t>(value) >> 24) & 0x80u;
  if (std::isnan(value)) return static_cast<uint8_t>(sign | 0x7eu);
  const float magnitude = std::fabs(value);
  if (magnitude >= 61440.0f) return static_cast<uint8_t>(sign | 0x7cu);  // rounds past 57344
  return static_cast<uint8_t>(sign | EncodeMagnitude<5, 2>(magnitude));
}

float F8E4M3ToF32(uint8_t bits) {
  // All exponents are finite but for one NaN: decode one exponent bit wider, with the same bias.
  if ((bits & 0x7fu) == 0x7fu) {
    return std::bit_cast<float>(((bits & 0x80u) << 24) | 0x7fc00000u);
  }
  const uint32_t mantissa = bits & 7u;
  const int exponent = (bits >> 3) & 15;
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(mantissa), -9)
                              : std::ldexp(static_cast<float>(mantissa | 8u), exponent - 10);
  return (bits & 0x80u) != 0 ? -magnitude : magnitude;
}

uint8_t F32ToF8E4M3(float value) {
  const uint32_t sign = (std::bit_cast<uint32_t>(value) >> 24) & 0x80u;
  const float magnitude = std::fabs(value);
  if (std::isnan(value) || magnitude > 464.0f) return static_cast<uint8_t>(sign | 0x7fu);
  return static_cast<uint8_t>(sign | EncodeMagnitude<4, 3>(magnitude));  // 464 ties to even: 448
}

}  // namespace rml::core
