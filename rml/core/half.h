// Scalar conversions between f32 and the narrow floats, in bits: f16 and bf16 round to nearest
// even; f8 follows OCP FP8 (E4M3FN saturates to NaN beyond 448 as ml_dtypes does, E5M2 to
// infinity). These are the readable reference; rml/kernels has the vector forms.
#pragma once

#include <bit>
#include <cstdint>

namespace rml::core {

float F16ToF32(uint16_t bits);
uint16_t F32ToF16(float value);

inline float BF16ToF32(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
uint16_t F32ToBF16(float value);  // NaN stays NaN (quiet)

float F8E4M3ToF32(uint8_t bits);
uint8_t F32ToF8E4M3(float value);
float F8E5M2ToF32(uint8_t bits);
uint8_t F32ToF8E5M2(float value);

}  // namespace rml::core
