// The block layouts of GGUF's quantised types, byte for byte as files store them.
//
// A block holds 32 or 256 consecutive elements of a row. "q" below is an element's small integer
// and w its value. Two-byte fields named d, m or dmin are IEEE half floats in bits. Layout of the
// bytes: GGUF specification and ggml-common.h of llama.cpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "rml/core/dtype.h"

namespace rml::quant {

inline constexpr int kSmallBlock = 32;   // elements of Q4_0 … Q8_0
inline constexpr int kSuperBlock = 256;  // elements of the K types

struct BlockQ4_0 {  // w = d (q - 8), q in [0, 15]
  uint16_t d;
  uint8_t q[16];  // element i in the low half of q[i], element i + 16 in the high half
};

struct BlockQ4_1 {  // w = d q + m, q in [0, 15]
  uint16_t d;
  uint16_t m;
  uint8_t q[16];  // as in Q4_0
};

struct BlockQ5_0 {  // w = d (q - 16), q in [0, 31]
  uint16_t d;
  uint8_t high[4];  // little-endian 32 bits: bit i is the fifth bit of element i
  uint8_t q[16];    // low four bits, as in Q4_0
};

struct BlockQ5_1 {  // w = d q + m, q in [0, 31]
  uint16_t d;
  uint16_t m;
  uint8_t high[4];
  uint8_t q[16];
};

struct BlockQ8_0 {  // w = d q
  uint16_t d;
  int8_t q[32];
};

// Q4_K and Q5_K: eight groups of 32 elements; group g has a 6-bit scale and a 6-bit minimum.
// w = d scale[g] q - dmin min[g]. See GroupScaleMin for how the twelve bytes hold them.
struct BlockQ4_K {
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];
  uint8_t q[128];  // byte 32 p + i: element 64 p + i low, element 64 p + 32 + i high
};

struct BlockQ5_K {
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];
  uint8_t high[32];  // bit g of high[i]: the fifth bit of element 32 g + i
  uint8_t q[128];    // low four bits, as in Q4_K
};

// Sixteen groups of 16 elements. w = d scale[g] (q - 32), q in [0, 63].
// In each half of 128 elements, with i in [0, 32): elements i, i + 32, i + 64, i + 96 have their
// low bits in low[i] & 15, low[i + 32] & 15, low[i] >> 4, low[i + 32] >> 4, and their two high bits
// in high[i] from the lowest pair to the highest.
struct BlockQ6_K {
  uint8_t low[128];
  uint8_t high[64];
  int8_t scales[16];
  uint16_t d;
};

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22 &&
              sizeof(BlockQ5_1) == 24 && sizeof(BlockQ8_0) == 34);
static_assert(sizeof(BlockQ4_K) == 144 && sizeof(BlockQ5_K) == 176 && sizeof(BlockQ6_K) == 210);

// Scale and minimum of group g (0..7) of Q4_K and Q5_K. Bytes 0-3 hold the scales of groups 0-3 in
// their low six bits, bytes 4-7 the minima; bytes 8-11 hold the low four bits of scale (low half)
// and minimum (high half) of groups 4-7, whose top two bits lie in the top bits of bytes 0-3 and
// 4-7.
struct ScaleMin {
  uint8_t scale;
  uint8_t min;
};
constexpr ScaleMin GroupScaleMin(const uint8_t* scales, int g) {
  if (g < 4) {
    return {static_cast<uint8_t>(scales[g] & 63), static_cast<uint8_t>(scales[g + 4] & 63)};
  }
  return {static_cast<uint8_t>((scales[g + 4] & 15) | ((scales[g - 4] >> 6) << 4)),
          static_cast<uint8_t>((scales[g + 4] >> 4) | ((scales[g] >> 6) << 4))};
}

// Half to float without a table or a branch on subnormals: the half's exponent and mantissa at the
// float's place are too small by 2^112, subnormals included. core::F16ToF32 is the readable form.
inline float HalfToFloat(uint16_t half) {
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fffu) << 13;
  float value = std::bit_cast<float>(magnitude) * 0x1p112f;
  if (magnitude >= 0x0f800000u) value = std::bit_cast<float>(magnitude | 0x7f800000u);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) |
                              (static_cast<uint32_t>(half & 0x8000u) << 16));
}

}  // namespace rml::quant
