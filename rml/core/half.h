// Narrow floats: storage types of a known size, and conversions from and to f32 in bits.
//
// f16, bf16 and f8 round to nearest, ties to even. E4M3FN has no infinity: what rounds beyond 448
// becomes NaN, as in ml_dtypes; E5M2 goes to infinity like f16. NaN stays NaN with its sign. Narrow
// results are made by integer arithmetic, so the thread's rounding and denormal modes do not
// matter. rml/kernels has vector forms.
#pragma once

#include <bit>
#include <cstdint>

namespace rml::core {

// What a tensor of the dtype holds, element by element: nothing but the bits.
struct F16 {
  uint16_t bits;
  friend bool operator==(F16, F16) = default;
};
struct BF16 {
  uint16_t bits;
  friend bool operator==(BF16, BF16) = default;
};
struct F8E4M3 {
  uint8_t bits;
  friend bool operator==(F8E4M3, F8E4M3) = default;
};
struct F8E5M2 {
  uint8_t bits;
  friend bool operator==(F8E5M2, F8E5M2) = default;
};

float F16ToF32(uint16_t bits);
uint16_t F32ToF16(float value);

inline float BF16ToF32(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
uint16_t F32ToBF16(float value);

float F8E4M3ToF32(uint8_t bits);
uint8_t F32ToF8E4M3(float value);
float F8E5M2ToF32(uint8_t bits);
uint8_t F32ToF8E5M2(float value);

// `value` cut to an f32 whose last bit is set when anything was lost. Rounding that once more, to a
// type two bits or more narrower, gives what rounding `value` directly would:
// F32ToF16(RoundToOdd(x)).
float RoundToOdd(double value);

}  // namespace rml::core
