// The innermost loops of the f32 GEMM, compiled once per target: a tile of C in registers, and the
// packing that lets it read A and B in order.

#if defined(RML_KERNELS_GEMM_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef RML_KERNELS_GEMM_GEMM_TILE_INL_H_
#undef RML_KERNELS_GEMM_GEMM_TILE_INL_H_
#else
#define RML_KERNELS_GEMM_GEMM_TILE_INL_H_
#endif

#include "rml/kernels/float_tile-inl.h"
#include "rml/kernels/gemm/gemm_target.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

// c[i, j] (+)= sum over p < depth of a[i * kGemmPanelStride + p] * b[p * b_stride + j], in
// kRows x kVectors registers. B streams from second-level cache: it is asked for a few steps ahead.
template <int kRows, int kVectors>
HWY_NOINLINE void GemmTile(int64_t depth, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                           int64_t b_stride, float* HWY_RESTRICT c, int64_t ldc, bool add) {
  const DF d;
  constexpr int64_t kAhead = 8;
  VF sum[kRows][kVectors];
  RML_UNROLL
  for (int i = 0; i < kRows; ++i) {
    RML_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      hwy::Prefetch(c + i * ldc + j * kLanes);  // wanted only after all of the depth
      sum[i][j] = hn::Zero(d);
    }
  }
  for (int64_t p = 0; p < depth; ++p) {
    VF columns[kVectors];
    RML_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      hwy::Prefetch(b + kAhead * b_stride + j * kLanes);
      columns[j] = hn::LoadU(d, b + j * kLanes);
    }
    RML_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const VF value = hn::Set(d, a[i * kGemmPanelStride + p]);
      RML_UNROLL
      for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::MulAdd(value, columns[j], sum[i][j]);
    }
    b += b_stride;
  }
  RML_UNROLL
  for (int i = 0; i < kRows; ++i) {
    RML_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      float* out = c + i * ldc + j * kLanes;
      hn::StoreU(add ? hn::Add(hn::LoadU(d, out), sum[i][j]) : sum[i][j], d, out);
    }
  }
}

// The tile of `rows` rows, 1 to kTileRows.
template <int kVectors, int kRows = kTileRows>
HWY_INLINE void GemmTileRows(int64_t rows, int64_t depth, const float* a, const float* b,
                             int64_t b_stride, float* c, int64_t ldc, bool add) {
  if (rows == kRows) return GemmTile<kRows, kVectors>(depth, a, b, b_stride, c, ldc, add);
  if constexpr (kRows > 1)
    GemmTileRows<kVectors, kRows - 1>(rows, depth, a, b, b_stride, c, ldc, add);
}

// One tile over `width` columns of a panel, which is a multiple of vectors wide.
HWY_INLINE void GemmTileOf(int64_t rows, int64_t width, int64_t depth, const float* a,
                           const float* b, int64_t b_stride, float* c, int64_t ldc, bool add) {
  static_assert(kTileVectors == 2 || kTileVectors == 3);
  if (kTileVectors == 3 && width == 3 * kLanes)
    return GemmTileRows<kTileVectors>(rows, depth, a, b, b_stride, c, ldc, add);
  if (width == 2 * kLanes) return GemmTileRows<2>(rows, depth, a, b, b_stride, c, ldc, add);
  GemmTileRows<1>(rows, depth, a, b, b_stride, c, ldc, add);
}

// ---- Few rows

// sums[i * stride + j] += sum over p < depth of a[i * kGemmPanelStride + p] * b[p * b_stride + j],
// p in order, for kRows rows and `columns` columns. B is read once, along its rows, several of them
// at a time; the sums stay in first-level cache.
template <int kRows, class T>
HWY_NOINLINE void AddRows(int64_t depth, int64_t columns, const float* a, const T* b,
                          int64_t b_stride, float* HWY_RESTRICT sums, int64_t stride) {
  const DF d;
  // More rows of B at once are more streams than the processor fetches ahead.
  constexpr int kSteps = kTileVectors == 3 ? (kRows < 4 ? 8 : 4) : (kRows < 3 ? 4 : 2);
  const int64_t whole = columns / kLanes * kLanes;
  int64_t p = 0;
  for (; p + kSteps <= depth; p += kSteps, b += kSteps * b_stride) {
    VF factor[kRows][kSteps];
    RML_UNROLL
    for (int i = 0; i < kRows; ++i) {
      RML_UNROLL
      for (int q = 0; q < kSteps; ++q) factor[i][q] = hn::Set(d, a[i * kGemmPanelStride + p + q]);
    }
    for (int64_t j = 0; j < whole; j += kLanes) {
      VF sum[kRows];
      RML_UNROLL
      for (int i = 0; i < kRows; ++i) sum[i] = hn::LoadU(d, sums + i * stride + j);
      RML_UNROLL
      for (int q = 0; q < kSteps; ++q) {
        const VF value = LoadF32(d, b + q * b_stride + j);
        RML_UNROLL
        for (int i = 0; i < kRows; ++i) sum[i] = hn::MulAdd(factor[i][q], value, sum[i]);
      }
      RML_UNROLL
      for (int i = 0; i < kRows; ++i) hn::StoreU(sum[i], d, sums + i * stride + j);
    }
    if (whole == columns) continue;
    for (int q = 0; q < kSteps; ++q) {
      const VF value = LoadTail(d, b + q * b_stride + whole, columns - whole);
      for (int i = 0; i < kRows; ++i) {
        float* at = sums + i * stride + whole;
        hn::StoreU(hn::MulAdd(factor[i][q], value, hn::LoadU(d, at)), d, at);
      }
    }
  }
  for (; p < depth; ++p, b += b_stride) {
    for (int i = 0; i < kRows; ++i) {
      const VF factor = hn::Set(d, a[i * kGemmPanelStride + p]);
      for (int64_t j = 0; j < columns; j += kLanes) {
        const VF value = j < whole ? LoadF32(d, b + j) : LoadTail(d, b + j, columns - j);
        float* at = sums + i * stride + j;
        hn::StoreU(hn::MulAdd(factor, value, hn::LoadU(d, at)), d, at);
      }
    }
  }
}

// ---- Packing

// Whole rows of a block of B that lies by rows, each cut into the panels' parts: it is read in
// order.
template <class T>
HWY_INLINE void PackRowMajor(const T* b, int64_t row_stride, int64_t first, int64_t depth,
                             int64_t column, int64_t column_end, float* HWY_RESTRICT out) {
  const DF d;
  constexpr int64_t kWidth = kTileVectors * kLanes;
  constexpr int64_t kAhead = 4;
  const int64_t columns = column_end - column;
  const int64_t whole = columns / kWidth * kWidth;
  const int64_t last_width = (columns - whole + kLanes - 1) / kLanes * kLanes;
  const T* from = b + first * row_stride + column;
  for (int64_t p = 0; p < depth; ++p, from += row_stride) {
    const T* ahead = p + kAhead < depth ? from + kAhead * row_stride : from;
    int64_t j = 0;
    for (; j < whole; j += kWidth) {
      float* to = out + j * depth + p * kWidth;
      RML_UNROLL
      for (int v = 0; v < kTileVectors; ++v) {
        hwy::Prefetch(ahead + j + v * kLanes);
        hn::StoreU(LoadF32(d, from + j + v * kLanes), d, to + v * kLanes);
      }
    }
    float* to = out + whole * depth + p * last_width;
    for (; j + kLanes <= columns; j += kLanes, to += kLanes)
      hn::StoreU(LoadF32(d, from + j), d, to);
    if (j < columns) hn::StoreU(LoadTail(d, from + j, columns - j), d, to);
  }
}

// out[p * width + j] = b[first + p, column + j], widened; 0 where column + j >= column_end.
template <class T>
HWY_INLINE void PackPanel(const T* b, int64_t row_stride, int64_t column_stride, int64_t first,
                          int64_t depth, int64_t column, int64_t column_end, int64_t width,
                          float* HWY_RESTRICT out) {
  const DF d;
  const int64_t valid = column_end - column < width ? column_end - column : width;
  if (row_stride == 1) {
    for (int64_t j = 0; j < width; j += kLanes) {
      const T* lines[kLanes];
      for (int64_t r = 0; r < kLanes; ++r) {  // past the end: the last one again, never stored
        const int64_t at = column + j + r < column_end ? column + j + r : column_end - 1;
        lines[r] = b + at * column_stride + first;
      }
      int64_t p = 0;
      for (; p + 4 <= depth; p += 4) {
        VF columns[4];
        LoadTransposed4(lines, p, columns);
        RML_UNROLL
        for (int q = 0; q < 4; ++q) hn::StoreU(columns[q], d, out + (p + q) * width + j);
      }
      for (; p < depth; ++p) {
        for (int64_t r = 0; r < kLanes; ++r) out[p * width + j + r] = ScalarF32(lines[r][p]);
      }
    }
    return;
  }
  for (int64_t p = 0; p < depth; ++p, out += width) {
    const T* from = b + (first + p) * row_stride + column * column_stride;
    for (int64_t j = 0; j < width; ++j) out[j] = j < valid ? ScalarF32(from[j * column_stride]) : 0;
  }
}

// out[i * kGemmPanelStride + p] = a[i, p] for i < rows, widened.
template <class T>
HWY_INLINE void PackRows(const T* a, int64_t row_stride, int64_t column_stride, int64_t rows,
                         int64_t depth, float* HWY_RESTRICT out) {
  const DF d;
  if (column_stride == 1) {
    for (int64_t i = 0; i < rows; ++i) {
      const T* from = a + i * row_stride;
      float* to = out + i * kGemmPanelStride;
      int64_t p = 0;
      for (; p + kLanes <= depth; p += kLanes) hn::StoreU(LoadF32(d, from + p), d, to + p);
      for (; p < depth; ++p) to[p] = ScalarF32(from[p]);
    }
    return;
  }
  int64_t p = 0;
  if (row_stride == 1) {
    for (; p + kLanes <= depth; p += kLanes) {
      const T* lines[kLanes];
      for (int64_t q = 0; q < kLanes; ++q) lines[q] = a + (p + q) * column_stride;
      int64_t i = 0;
      for (; i + 4 <= rows; i += 4) {
        VF values[4];
        LoadTransposed4(lines, i, values);
        RML_UNROLL
        for (int q = 0; q < 4; ++q) hn::StoreU(values[q], d, out + (i + q) * kGemmPanelStride + p);
      }
      for (; i < rows; ++i) {
        for (int64_t q = 0; q < kLanes; ++q)
          out[i * kGemmPanelStride + p + q] = ScalarF32(lines[q][i]);
      }
    }
  }
  for (; p < depth; ++p) {
    const T* from = a + p * column_stride;
    for (int64_t i = 0; i < rows; ++i)
      out[i * kGemmPanelStride + p] = ScalarF32(from[i * row_stride]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
