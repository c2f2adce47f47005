// AVX2: how each block type's codes become bytes of a vector. Included by files compiled for AVX2
// or above only; everything has internal linkage, so that no copy compiled here can serve
// elsewhere.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rml/quant/blocks.h"  // layouts only: its functions must not be called here

namespace rml::kernels {
namespace {  // NOLINT(google-build-namespaces): internal linkage is the point

inline __m256i Load256(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline void Store256(void* p, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
inline __m128i Load128(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }

inline uint16_t LoadU16(const void* p) {
  uint16_t v;
  memcpy(&v, p, sizeof(v));
  return v;
}
inline uint32_t LoadU32(const void* p) {
  uint32_t v;
  memcpy(&v, p, sizeof(v));
  return v;
}
inline float HalfBits(uint16_t bits) { return _cvtsh_ss(bits); }

// 16 bytes of nibbles: the low ones in bytes 0-15, the high ones in bytes 16-31.
inline __m256i SplitNibbles(const uint8_t* q) {
  const __m256i twice = _mm256_broadcastsi128_si256(Load128(q));
  const __m256i shifted = _mm256_srlv_epi64(twice, _mm256_setr_epi64x(0, 0, 4, 4));
  return _mm256_and_si256(shifted, _mm256_set1_epi8(15));
}

// 32 bits: 0x10 in byte i where bit i is set.
inline __m256i SpreadFifthBits(const uint8_t* high) {
  const __m256i bits = _mm256_set1_epi32(static_cast<int>(LoadU32(high)));
  const __m256i byte_of =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit_of = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201u));
  const __m256i mine = _mm256_and_si256(_mm256_shuffle_epi8(bits, byte_of), bit_of);
  return _mm256_and_si256(_mm256_cmpeq_epi8(mine, bit_of), _mm256_set1_epi8(16));
}

// ---- Types of 32: w = d · code + m ----
// kOffset: what the type subtracts from its codes, where it stores no m.

struct CodesQ4_0 {
  using Block = quant::BlockQ4_0;
  static constexpr bool kHasMin = false;
  static constexpr int kOffset = 8;
  static constexpr int kMaxCode = 15;
  static __m256i Load(const uint8_t* b) { return SplitNibbles(b + offsetof(Block, q)); }
};

struct CodesQ4_1 {
  using Block = quant::BlockQ4_1;
  static constexpr bool kHasMin = true;
  static constexpr int kOffset = 0;
  static constexpr int kMaxCode = 15;
  static __m256i Load(const uint8_t* b) { return SplitNibbles(b + offsetof(Block, q)); }
};

struct CodesQ5_0 {
  using Block = quant::BlockQ5_0;
  static constexpr bool kHasMin = false;
  static constexpr int kOffset = 16;
  static constexpr int kMaxCode = 31;
  static __m256i Load(const uint8_t* b) {
    return _mm256_or_si256(SplitNibbles(b + offsetof(Block, q)),
                           SpreadFifthBits(b + offsetof(Block, high)));
  }
};

struct CodesQ5_1 {
  using Block = quant::BlockQ5_1;
  static constexpr bool kHasMin = true;
  static constexpr int kOffset = 0;
  static constexpr int kMaxCode = 31;
  static __m256i Load(const uint8_t* b) {
    return _mm256_or_si256(SplitNibbles(b + offsetof(Block, q)),
                           SpreadFifthBits(b + offsetof(Block, high)));
  }
};

struct CodesQ8_0 {  // codes with 128 added, so that they are unsigned
  using Block = quant::BlockQ8_0;
  static constexpr bool kHasMin = false;
  static constexpr int kOffset = 128;
  static constexpr int kMaxCode = 255;
  static __m256i LoadSigned(const uint8_t* b) { return Load256(b + offsetof(Block, q)); }
  static __m256i Load(const uint8_t* b) {
    return _mm256_xor_si256(LoadSigned(b), _mm256_set1_epi8(static_cast<char>(0x80)));
  }
};

// ---- Types of 256: w = d · scale · code - dmin · min ----

// The six-bit scales (bytes 0-7) and minima (bytes 8-15) of Q4_K and Q5_K, one byte each. The four
// words of the packed bytes are a (0-3), b (4-7), c (8-11); see quant::GroupScaleMin.
inline void ScalesAndMins(const uint8_t* packed, uint8_t* out) {
  const uint32_t a = LoadU32(packed);
  const uint32_t b = LoadU32(packed + 4);
  const uint32_t c = LoadU32(packed + 8);
  const uint32_t words[4] = {a & 0x3f3f3f3fu, (c & 0x0f0f0f0fu) | ((a >> 2) & 0x30303030u),
                             b & 0x3f3f3f3fu, ((c >> 4) & 0x0f0f0f0fu) | ((b >> 2) & 0x30303030u)};
  memcpy(out, words, sizeof(words));
}

struct CodesQ4_K {
  using Block = quant::BlockQ4_K;
  static constexpr int kGroups = 8;
  static constexpr int kMaxCode = 15;
  template <int kGroup>  // codes of columns [32 kGroup, 32 kGroup + 32)
  static __m256i Load(const uint8_t* b) {
    const __m256i pair = Load256(b + offsetof(Block, q) + 32 * (kGroup / 2));
    const __m256i mine = kGroup % 2 == 0 ? pair : _mm256_srli_epi16(pair, 4);
    return _mm256_and_si256(mine, _mm256_set1_epi8(15));
  }
};

struct CodesQ5_K {
  using Block = quant::BlockQ5_K;
  static constexpr int kGroups = 8;
  static constexpr int kMaxCode = 31;
  template <int kGroup>
  static __m256i Load(const uint8_t* b) {
    const __m256i pair = Load256(b + offsetof(Block, q) + 32 * (kGroup / 2));
    const __m256i low =
        _mm256_and_si256(kGroup % 2 == 0 ? pair : _mm256_srli_epi16(pair, 4), _mm256_set1_epi8(15));
    // Bit kGroup of each byte to bit 4; what crosses a byte's border is masked off.
    const __m256i bits = Load256(b + offsetof(Block, high));
    const __m256i moved = kGroup <= 4 ? _mm256_slli_epi16(bits, kGroup <= 4 ? 4 - kGroup : 0)
                                      : _mm256_srli_epi16(bits, kGroup <= 4 ? 0 : kGroup - 4);
    return _mm256_or_si256(low, _mm256_and_si256(moved, _mm256_set1_epi8(16)));
  }
};

struct CodesQ6_K {  // min of a group is 32 scale, dmin is d
  using Block = quant::BlockQ6_K;
  static constexpr int kGroups = 16;
  static constexpr int kMaxCode = 63;
  template <int kGroup>  // of 32 columns: a quarter of a half
  static __m256i Load(const uint8_t* b) {
    constexpr int kHalf = kGroup / 4;
    constexpr int kQuarter = kGroup % 4;
    const __m256i pair = Load256(b + offsetof(Block, low) + 64 * kHalf + 32 * (kQuarter % 2));
    const __m256i low =
        _mm256_and_si256(kQuarter < 2 ? pair : _mm256_srli_epi16(pair, 4), _mm256_set1_epi8(15));
    const __m256i bits = Load256(b + offsetof(Block, high) + 32 * kHalf);
    const __m256i moved = kQuarter <= 2
                              ? _mm256_slli_epi16(bits, kQuarter <= 2 ? 4 - 2 * kQuarter : 0)
                              : _mm256_srli_epi16(bits, 2);
    return _mm256_or_si256(low, _mm256_and_si256(moved, _mm256_set1_epi8(0x30)));
  }
};

inline float HorizontalSum(__m256 v) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

}  // namespace
}  // namespace rml::kernels
