// The panel kernel of float_gemm_bf16.h in AVX-512 intrinsics, defined in the namespace that
// includes it: by float_gemm_avx512bf16.cc natively, by its test through an emulation of the
// intrinsics.

// kRows rows of x: 8 x 3 sums live in registers beside 3 vectors of the panel.
template <int kRows>
inline void Bf16Tile(const uint32_t* panel, int64_t pairs, const uint32_t* x, int64_t x_stride,
                     __m512 sums[kRows][3]) {
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) sums[i][j] = _mm512_setzero_ps();
  }
  for (int64_t p = 0; p < pairs; ++p) {
    __m512bh columns[3];
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
      columns[j] = (__m512bh)_mm512_loadu_si512(panel + p * kBf16PanelRows + 16 * j);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const __m512bh row = (__m512bh)_mm512_set1_epi32(static_cast<int>(x[i * x_stride + p]));
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j) sums[i][j] = _mm512_dpbf16_ps(sums[i][j], row, columns[j]);
    }
  }
}

template <int kRows>
inline void Bf16TileToY(const uint32_t* panel, int64_t pairs, int64_t width, const uint32_t* x,
                        int64_t x_stride, float* y, int64_t y_stride, bool add) {
  __m512 sums[kRows][3];
  Bf16Tile<kRows>(panel, pairs, x, x_stride, sums);
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    float lanes[kBf16PanelRows];
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
      if (width == kBf16PanelRows) {
        float* out = y + i * y_stride + 16 * j;
        _mm512_storeu_ps(out, add ? _mm512_add_ps(_mm512_loadu_ps(out), sums[i][j]) : sums[i][j]);
      } else {
        _mm512_storeu_ps(lanes + 16 * j, sums[i][j]);
      }
    }
    if (width == kBf16PanelRows) continue;
    for (int64_t r = 0; r < width; ++r) {
      float* out = y + i * y_stride + r;
      *out = add ? *out + lanes[r] : lanes[r];
    }
  }
}

inline void Bf16Panel(const uint32_t* panel, int64_t pairs, int64_t width, const uint32_t* x,
                      int64_t x_stride, int64_t m, float* y, int64_t y_stride, bool add) {
  int64_t i = 0;
  for (; i + 8 <= m; i += 8) {
    Bf16TileToY<8>(panel, pairs, width, x + i * x_stride, x_stride, y + i * y_stride, y_stride,
                   add);
  }
  if (i + 4 <= m) {
    Bf16TileToY<4>(panel, pairs, width, x + i * x_stride, x_stride, y + i * y_stride, y_stride,
                   add);
    i += 4;
  }
  for (; i < m; ++i) {
    Bf16TileToY<1>(panel, pairs, width, x + i * x_stride, x_stride, y + i * y_stride, y_stride,
                   add);
  }
}
