// AVX2: a panel of 16 rows times many rows of activations.
//
// A tile is 16 rows (two vectors of eight rows, four columns each) by up to four activation rows: a
// step loads two vectors of codes and broadcasts four bytes of each activation row. maddubs multiplies
// unsigned by signed bytes and adds neighbours in 16 bits; a few steps are added in 16 bits before
// they are widened, as many as the type's largest code allows: steps · 2 · max_code · 127 <= 32767.
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "rml/kernels/qgemm_kernels.h"
#include "rml/kernels/qgemv_avx2.h"

namespace rml::kernels {

namespace {

constexpr int kStepBytes = kPanelRows * 4;
constexpr int kHalves = 2;  // vectors of eight rows

inline __m256i LoadCodes(const uint8_t* p) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
}

inline __m256i BroadcastWord(const void* p) {
  int word;
  memcpy(&word, p, sizeof(word));
  return _mm256_set1_epi32(word);
}

// Sums in 16 bits of kSteps steps from `codes` and columns x[c] on.
template <int kTile, int kSteps>
__attribute__((always_inline)) inline void SumSteps(const uint8_t* codes, const int8_t* const* x,
                                                    int64_t offset,
                                                    __m256i (&sum)[kTile][kHalves]) {
#pragma GCC unroll 8
  for (int s = 0; s < kSteps; ++s) {
    const __m256i w0 = LoadCodes(codes + s * kStepBytes);
    const __m256i w1 = LoadCodes(codes + s * kStepBytes + 32);
#pragma GCC unroll 4
    for (int c = 0; c < kTile; ++c) {
      const __m256i xs = BroadcastWord(x[c] + offset + 4 * s);
      const __m256i p0 = _mm256_maddubs_epi16(w0, xs);
      const __m256i p1 = _mm256_maddubs_epi16(w1, xs);
      sum[c][0] = s == 0 ? p0 : _mm256_add_epi16(sum[c][0], p0);
      sum[c][1] = s == 0 ? p1 : _mm256_add_epi16(sum[c][1], p1);
    }
  }
}

// ---- One scale per 32 columns ----

// kPlanes == 2: codes are 16 · (first plane) + (second plane).
template <int kTile, int kSteps, int kPlanes>
__attribute__((always_inline)) inline void Tile32(const Panel32& panel, int64_t first_block,
                                                  int64_t blocks, int64_t total_blocks,
                                                  const Activations32& x, int64_t m, int64_t i,
                                                  float* acc, bool first) {
  constexpr int kPlaneBytes = 8 * kStepBytes;
  const __m256i ones = _mm256_set1_epi16(1);
  __m256 y[kTile][kHalves];
#pragma GCC unroll 4
  for (int c = 0; c < kTile; ++c) {
    y[c][0] = first ? _mm256_setzero_ps() : _mm256_loadu_ps(acc + c * kPanelRows);
    y[c][1] = first ? _mm256_setzero_ps() : _mm256_loadu_ps(acc + c * kPanelRows + 8);
  }
  for (int64_t b0 = 0; b0 < blocks; b0 += kChunkCols / 32) {  // chunk by chunk
    const int64_t chunk_block = first_block + b0;
    const int64_t chunk_left = total_blocks - chunk_block;
    const int64_t width = chunk_left < kChunkCols / 32 ? 32 * chunk_left : kChunkCols;
    const int8_t* xs[kTile];
    for (int c = 0; c < kTile; ++c) {
      xs[c] = x.codes + 32 * chunk_block * m + (i + c) * width;
    }
    const int64_t end = blocks - b0 < kChunkCols / 32 ? blocks - b0 : kChunkCols / 32;
    for (int64_t j = 0; j < end; ++j) {
      const int64_t b = b0 + j;
      const uint8_t* codes = panel.codes + b * kPlanes * kPlaneBytes;
      __m256i wide[kTile][kHalves];
      __m256i sum[kTile][kHalves];
#pragma GCC unroll 2
      for (int plane = 0; plane < kPlanes; ++plane) {
        const __m256i weight = kPlanes == 2 && plane == 0 ? _mm256_set1_epi16(16) : ones;
#pragma GCC unroll 4
        for (int s = 0; s < 8; s += kSteps) {
          SumSteps<kTile, kSteps>(codes + plane * kPlaneBytes + s * kStepBytes, xs, 32 * j + 4 * s, sum);
#pragma GCC unroll 4
          for (int c = 0; c < kTile; ++c) {
#pragma GCC unroll 2
            for (int h = 0; h < kHalves; ++h) {
              const __m256i part = _mm256_madd_epi16(sum[c][h], weight);
              wide[c][h] = plane == 0 && s == 0 ? part : _mm256_add_epi32(wide[c][h], part);
            }
          }
        }
      }
      const float* scales = x.scales + (first_block + b) * m + i;
      const float* sums = x.sums + (first_block + b) * m + i;
#pragma GCC unroll 2
      for (int h = 0; h < kHalves; ++h) {
        const __m256 d = _mm256_load_ps(panel.d + b * kPanelRows + 8 * h);
        const __m256 offset = _mm256_load_ps(panel.m + b * kPanelRows + 8 * h);
#pragma GCC unroll 4
        for (int c = 0; c < kTile; ++c) {
          const __m256 scale = _mm256_mul_ps(d, _mm256_broadcast_ss(scales + c));
          y[c][h] = _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(wide[c][h]), y[c][h]);
          y[c][h] = _mm256_fmadd_ps(offset, _mm256_broadcast_ss(sums + c), y[c][h]);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < kTile; ++c) {
    _mm256_storeu_ps(acc + c * kPanelRows, y[c][0]);
    _mm256_storeu_ps(acc + c * kPanelRows + 8, y[c][1]);
  }
}

template <int kSteps, int kPlanes>
void Gemm32(const Panel32& panel, int64_t first_block, int64_t blocks, int64_t total_blocks,
            const Activations32& x, int64_t m, float* acc, bool first) {
  constexpr int kTile = 4;
  int64_t i = 0;
  for (; i + kTile <= m; i += kTile) {
    Tile32<kTile, kSteps, kPlanes>(panel, first_block, blocks, total_blocks, x, m, i,
                                   acc + i * kPanelRows, first);
  }
  switch (m - i) {
    case 3:
      Tile32<3, kSteps, kPlanes>(panel, first_block, blocks, total_blocks, x, m, i,
                                 acc + i * kPanelRows, first);
      break;
    case 2:
      Tile32<2, kSteps, kPlanes>(panel, first_block, blocks, total_blocks, x, m, i,
                                 acc + i * kPanelRows, first);
      break;
    case 1:
      Tile32<1, kSteps, kPlanes>(panel, first_block, blocks, total_blocks, x, m, i,
                                 acc + i * kPanelRows, first);
      break;
    default: break;
  }
}

// ---- Integer scales per group within 256 columns ----

// kSteps: steps added in 16 bits; kGroups: 8 (of 8 steps) or 16 (of 4).
template <int kTile, int kSteps, int kGroups>
__attribute__((always_inline)) inline void Tile256(const Panel256& panel, int64_t first_block,
                                                   int64_t blocks, const Activations256& x,
                                                   int64_t m, int64_t i, float* acc, bool first) {
  constexpr int kGroupSteps = 64 / kGroups;
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t at = (first_block + b) * m + i;
    const int8_t* xs[kTile];
    for (int c = 0; c < kTile; ++c) xs[c] = x.codes + (at + c) * kChunkCols;
    const uint8_t* codes = panel.codes + b * 64 * kStepBytes;
    const auto* scales = reinterpret_cast<const uint8_t*>(panel.scales + b * kGroups * kPanelRows * 2);
    __m256i wide[kTile][kHalves];
#pragma GCC unroll 4
    for (int c = 0; c < kTile; ++c) wide[c][0] = wide[c][1] = _mm256_setzero_si256();
    for (int g = 0; g < kGroups; ++g) {
      const __m256i scale0 = LoadCodes(scales + g * kStepBytes);
      const __m256i scale1 = LoadCodes(scales + g * kStepBytes + 32);
#pragma GCC unroll 4
      for (int s = 0; s < kGroupSteps; s += kSteps) {
        __m256i sum[kTile][kHalves];
        SumSteps<kTile, kSteps>(codes + (g * kGroupSteps + s) * kStepBytes, xs,
                                4 * (g * kGroupSteps + s), sum);
#pragma GCC unroll 4
        for (int c = 0; c < kTile; ++c) {
          wide[c][0] = _mm256_add_epi32(wide[c][0], _mm256_madd_epi16(sum[c][0], scale0));
          wide[c][1] = _mm256_add_epi32(wide[c][1], _mm256_madd_epi16(sum[c][1], scale1));
        }
      }
    }
    const auto* mins = reinterpret_cast<const uint8_t*>(panel.mins + b * kGroups * kPanelRows);
    const int16_t* sums = kGroups == 16 ? x.sums16 + 16 * at : x.sums32 + 8 * at;
#pragma GCC unroll 4
    for (int c = 0; c < kTile; ++c) {
      const __m256 scale = _mm256_broadcast_ss(x.scales + at + c);
#pragma GCC unroll 2
      for (int h = 0; h < kHalves; ++h) {
        __m256i minima = _mm256_setzero_si256();
#pragma GCC unroll 8
        for (int p = 0; p < kGroups / 2; ++p) {
          minima = _mm256_add_epi32(minima, _mm256_madd_epi16(LoadCodes(mins + p * kStepBytes + 32 * h),
                                                              BroadcastWord(sums + kGroups * c + 2 * p)));
        }
        const __m256 d = _mm256_mul_ps(scale, _mm256_load_ps(panel.d + b * kPanelRows + 8 * h));
        const __m256 dmin = _mm256_mul_ps(scale, _mm256_load_ps(panel.dmin + b * kPanelRows + 8 * h));
        float* out = acc + c * kPanelRows + 8 * h;
        __m256 y = first && b == 0 ? _mm256_setzero_ps() : _mm256_loadu_ps(out);
        y = _mm256_fmadd_ps(d, _mm256_cvtepi32_ps(wide[c][h]), y);
        y = _mm256_fnmadd_ps(dmin, _mm256_cvtepi32_ps(minima), y);
        _mm256_storeu_ps(out, y);
      }
    }
  }
}

template <int kSteps, int kGroups>
void Gemm256(const Panel256& panel, int64_t first_block, int64_t blocks, const Activations256& x,
             int64_t m, float* acc, bool first) {
  constexpr int kTile = 4;
  int64_t i = 0;
  for (; i + kTile <= m; i += kTile) {
    Tile256<kTile, kSteps, kGroups>(panel, first_block, blocks, x, m, i, acc + i * kPanelRows, first);
  }
  switch (m - i) {
    case 3: Tile256<3, kSteps, kGroups>(panel, first_block, blocks, x, m, i, acc + i * kPanelRows, first); break;
    case 2: Tile256<2, kSteps, kGroups>(panel, first_block, blocks, x, m, i, acc + i * kPanelRows, first); break;
    case 1: Tile256<1, kSteps, kGroups>(panel, first_block, blocks, x, m, i, acc + i * kPanelRows, first); break;
    default: break;
  }
}

}  // namespace

const QuantKernels kQuantKernelsAvx2 = {
    .quantize32 = avx2::Quantize32,
    .quantize256 = avx2::Quantize256,
    .q4_0 = {avx2::GemvQ4_0, avx2::UnpackQ4_0, Gemm32<8, 1>},
    .q4_1 = {avx2::GemvQ4_1, avx2::UnpackQ4_1, Gemm32<8, 1>},
    .q5_0 = {avx2::GemvQ5_0, avx2::UnpackQ5_0, Gemm32<4, 1>},
    .q5_1 = {avx2::GemvQ5_1, avx2::UnpackQ5_1, Gemm32<4, 1>},
    .q8_0 = {avx2::GemvQ8_0, avx2::UnpackQ8_0, Gemm32<8, 2>},
    .q4_k = {avx2::GemvQ4_K, avx2::UnpackQ4_K, Gemm256<8, 8>},
    .q5_k = {avx2::GemvQ5_K, avx2::UnpackQ5_K, Gemm256<4, 8>},
    .q6_k = {avx2::GemvQ6_K, avx2::UnpackQ6_K, Gemm256<2, 16>},
};

}  // namespace rml::kernels
