#include <immintrin.h>

#include "rml/kernels/gemm/gemm_narrow.h"

namespace rml::kernels {

namespace {

template <int kRows, int kVectors>
void Tile(int64_t words, const uint32_t* a, const uint32_t* b, int64_t b_stride, float* c,
          int64_t ldc, bool add) {
  __m512 sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) sums[i][j] = _mm512_setzero_ps();
  }
  for (int64_t p = 0; p < words; ++p, b += b_stride) {
    __m512bh columns[kVectors];
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      __builtin_prefetch(b + 8 * b_stride + 16 * j);
      columns[j] = (__m512bh)_mm512_loadu_si512(b + 16 * j);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const auto row = (__m512bh)_mm512_set1_epi32(static_cast<int>(a[i * kNarrowPanelStride + p]));
#pragma GCC unroll 3
      for (int j = 0; j < kVectors; ++j) {
        sums[i][j] = _mm512_dpbf16_ps(sums[i][j], row, columns[j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      float* out = c + i * ldc + 16 * j;
      _mm512_storeu_ps(out, add ? _mm512_add_ps(_mm512_loadu_ps(out), sums[i][j]) : sums[i][j]);
    }
  }
}

template <int kVectors, int kRows = kNarrowTileRows>
void TileRows(int64_t rows, int64_t words, const uint32_t* a, const uint32_t* b, int64_t b_stride,
              float* c, int64_t ldc, bool add) {
  if (rows == kRows) return Tile<kRows, kVectors>(words, a, b, b_stride, c, ldc, add);
  if constexpr (kRows > 1) TileRows<kVectors, kRows - 1>(rows, words, a, b, b_stride, c, ldc, add);
}

}  // namespace

void Bf16TileAvx512(int64_t rows, int64_t width, int64_t words, const void* a, const void* b,
                    int64_t b_stride, float* c, int64_t ldc, bool add) {
  const auto* wa = static_cast<const uint32_t*>(a);
  const auto* wb = static_cast<const uint32_t*>(b);
  if (width == 48) {
    TileRows<3>(rows, words, wa, wb, b_stride, c, ldc, add);
  } else if (width == 32) {
    TileRows<2>(rows, words, wa, wb, b_stride, c, ldc, add);
  } else {
    TileRows<1>(rows, words, wa, wb, b_stride, c, ldc, add);
  }
}

void Bf16PackAvx512(const uint16_t* b, int64_t row_stride, int64_t depth, int64_t columns,
                    int64_t width, uint32_t* out) {
  for (int64_t p = 0; p < depth; p += 2, b += 2 * row_stride, out += width) {
    for (int64_t j = 0; j < width; j += 16) {
      const int64_t left = columns - j;
      const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffff : (1u << left) - 1);
      __builtin_prefetch(b + 8 * row_stride + j);
      const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, b + j));
      const __m512i high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(
          p + 1 < depth ? mask : static_cast<__mmask16>(0), b + row_stride + j));
      _mm512_storeu_si512(out + j, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
  }
}

}  // namespace rml::kernels
