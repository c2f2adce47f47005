#include "rml/core/half.h"

namespace rml::core {

namespace {

constexpr uint32_t kF32Infinity = 0x7f800000u;
constexpr int kF32MantissaBits = 23;
constexpr int kF32Bias = 127;

// 2^exponent as a float, for exponents of normal numbers.
constexpr float PowerOfTwo(int exponent) {
  return std::bit_cast<float>(static_cast<uint32_t>(exponent + kF32Bias) << kF32MantissaBits);
}

// A float format of one sign bit, E exponent and M mantissa bits with IEEE's subnormals.
template <int E, int M>
struct Format {
  static constexpr int kBias = (1 << (E - 1)) - 1;
  static constexpr int kShift = kF32MantissaBits - M;  // mantissa bits that an f32 has more
  static constexpr uint32_t kSmallestNormal =          // as f32 bits
      static_cast<uint32_t>(1 - kBias + kF32Bias) << kF32MantissaBits;

  // Rounds a finite magnitude, given as f32 bits, to exponent and mantissa bits. A carry out of the
  // mantissa moves into the exponent by itself; the caller deals with what grew too large.
  static uint32_t Encode(uint32_t magnitude) {
    if (magnitude < kSmallestNormal) {
      // In units of the smallest subnormal, 2^(1 - bias - M), the result is a small integer. Shift
      // the f32's mantissa (hidden bit included) down to that unit and round by the bits shifted
      // out.
      const int exponent = static_cast<int>(magnitude >> kF32MantissaBits);
      const int down = kShift + (1 - kBias + kF32Bias) - exponent;
      if (down > kF32MantissaBits + 1) return 0;  // below half a unit; f32 denormals are too
      const uint32_t mantissa =
          (magnitude & ((1u << kF32MantissaBits) - 1)) | (1u << kF32MantissaBits);
      const uint32_t whole = mantissa >> down;
      const uint32_t half = 1u << (down - 1);
      const uint32_t rest = mantissa & ((1u << down) - 1);
      return whole + ((rest > half || (rest == half && (whole & 1u) != 0)) ? 1 : 0);
    }
    const uint32_t odd = (magnitude >> kShift) & 1u;
    const uint32_t rounded = magnitude + ((1u << (kShift - 1)) - 1) + odd;
    return (rounded >> kShift) - (static_cast<uint32_t>(kF32Bias - kBias) << M);
  }

  // Any code but infinity and NaN.
  static float DecodeMagnitude(uint32_t code) {
    const uint32_t mantissa = code & ((1u << M) - 1);
    const uint32_t exponent = code >> M;
    if (exponent == 0) return static_cast<float>(mantissa) * PowerOfTwo(1 - kBias - M);
    return std::bit_cast<float>(((exponent + (kF32Bias - kBias)) << kF32MantissaBits) |
                                (mantissa << kShift));
  }
};

using F16Format = Format<5, 10>;
using E5M2Format = Format<5, 2>;
using E4M3Format = Format<4, 3>;

float WithSign(float magnitude, uint32_t sign) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
}

}  // namespace

float F16ToF32(uint16_t bits) {
  const uint32_t code = bits & 0x7fffu;
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  if (code >= 0x7c00u) return std::bit_cast<float>(sign | kF32Infinity | ((code & 0x3ffu) << 13));
  return WithSign(F16Format::DecodeMagnitude(code), sign);
}

uint16_t F32ToF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t code = 0x7c00u;
  if (magnitude > kF32Infinity) {
    code = 0x7e00u | ((magnitude >> 13) & 0x1ffu);  // quiet, with what fits of the payload
  } else if (magnitude < std::bit_cast<uint32_t>(65520.0f)) {  // from there on rounds past 65504
    code = F16Format::Encode(magnitude);
  }
  return static_cast<uint16_t>(sign | code);
}

uint16_t F32ToBF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > kF32Infinity) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  bits += 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<uint16_t>(bits >> 16);
}

float F8E5M2ToF32(uint8_t bits) {
  // The upper byte of an f16.
  return F16ToF32(static_cast<uint16_t>(bits << 8));
}

uint8_t F32ToF8E5M2(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t sign = (bits >> 24) & 0x80u;
  uint32_t code = 0x7cu;
  if (magnitude > kF32Infinity) {
    code = 0x7eu;
  } else if (magnitude < std::bit_cast<uint32_t>(61440.0f)) {  // from there on rounds past 57344
    code = E5M2Format::Encode(magnitude);
  }
  return static_cast<uint8_t>(sign | code);
}

float F8E4M3ToF32(uint8_t bits) {
  const uint32_t code = bits & 0x7fu;
  const uint32_t sign = static_cast<uint32_t>(bits & 0x80u) << 24;
  if (code == 0x7fu) return std::bit_cast<float>(sign | 0x7fc00000u);
  return WithSign(E4M3Format::DecodeMagnitude(code), sign);
}

uint8_t F32ToF8E4M3(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t sign = (bits >> 24) & 0x80u;
  // 464 lies halfway between 448 and what would come next, and ties to 448, whose mantissa is even.
  const uint32_t code =
      magnitude > std::bit_cast<uint32_t>(464.0f) ? 0x7fu : E4M3Format::Encode(magnitude);
  return static_cast<uint8_t>(sign | code);
}

float RoundToOdd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  if (back == value || value != value) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if ((bits & 1u) != 0) return nearest;  // already odd, and on either side of the value
  // The odd neighbour on the value's side: one step of the magnitude up or down.
  const bool magnitude_grew = value < 0 ? back < value : back > value;
  bits = magnitude_grew ? bits - 1 : bits + 1;
  return std::bit_cast<float>(bits);
}

}  // namespace rml::core
