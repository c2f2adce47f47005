#include <immintrin.h>

#include "rml/kernels/gemm/gemm_narrow.h"

namespace rml::kernels {

namespace {

template <int kRows, int kVectors>
void Tile(int64_t words, const uint32_t* a, const uint32_t* b, int64_t b_stride, float* c,
          int64_t ldc, bool add) {
  __m512i sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) sums[i][j] = _mm512_loadu_si512(b + 16 * j);
  }
  b += b_stride;
  for (int64_t p = 0; p < words; ++p, b += b_stride) {
    __m512i columns[kVectors];
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      __builtin_prefetch(b + 8 * b_stride + 16 * j);
      columns[j] = _mm512_loadu_si512(b + 16 * j);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const __m512i row = _mm512_set1_epi32(static_cast<int>(a[i * kNarrowPanelStride + p]));
#pragma GCC unroll 3
      for (int j = 0; j < kVectors; ++j) {
        sums[i][j] = _mm512_dpbusd_epi32(sums[i][j], row, columns[j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      float* out = c + i * ldc + 16 * j;
      _mm512_storeu_si512(out,
                          add ? _mm512_add_epi32(_mm512_loadu_si512(out), sums[i][j]) : sums[i][j]);
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

void ByteTileVnni(int64_t rows, int64_t width, int64_t words, const void* a, const void* b,
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

void BytePackVnni(const uint8_t* b, int64_t row_stride, int64_t depth, int64_t columns,
                  int64_t width, uint32_t* out) {
  for (int64_t p = 0; p < depth; p += 4, b += 4 * row_stride, out += width) {
    for (int64_t j = 0; j < width; j += 16) {
      const int64_t left = columns - j;
      const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffff : (1u << left) - 1);
      __m128i rows[4];
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) {
        __builtin_prefetch(b + (16 + q) * row_stride + j);
        rows[q] = _mm_maskz_loadu_epi8(p + q < depth ? mask : static_cast<__mmask16>(0),
                                       b + q * row_stride + j);
      }
      const __m128i low01 = _mm_unpacklo_epi8(rows[0], rows[1]);
      const __m128i high01 = _mm_unpackhi_epi8(rows[0], rows[1]);
      const __m128i low23 = _mm_unpacklo_epi8(rows[2], rows[3]);
      const __m128i high23 = _mm_unpackhi_epi8(rows[2], rows[3]);
      auto* to = reinterpret_cast<__m128i*>(out + j);
      _mm_storeu_si128(to, _mm_unpacklo_epi16(low01, low23));
      _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(low01, low23));
      _mm_storeu_si128(to + 2, _mm_unpacklo_epi16(high01, high23));
      _mm_storeu_si128(to + 3, _mm_unpackhi_epi16(high01, high23));
    }
  }
}

void ByteHeaderVnni(const uint32_t* panel, int64_t words, int64_t width, int32_t* out) {
  const __m512i ones = _mm512_set1_epi8(1);
  for (int64_t j = 0; j < width; j += 16) {
    __m512i sum = _mm512_setzero_si512();
    for (int64_t p = 0; p < words; ++p) {
      sum = _mm512_dpbusd_epi32(sum, ones, _mm512_loadu_si512(panel + p * width + j));
    }
    _mm512_storeu_si512(out + j,
                        _mm512_slli_epi32(_mm512_sub_epi32(_mm512_setzero_si512(), sum), 7));
  }
}

}  // namespace rml::kernels
