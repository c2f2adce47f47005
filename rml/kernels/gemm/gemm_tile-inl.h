// The innermost loops of the f32 GEMM, compiled once per target: a tile of C in registers, and the
// packing that lets it read A and B in order.

#if defined(RML_KERNELS_GEMM_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef RML_KERNELS_GEMM_GEMM_TILE_INL_H_
#undef RML_KERNELS_GEMM_GEMM_TILE_INL_H_
#else
#define RML_KERNELS_GEMM_GEMM_TILE_INL_H_
#endif

#include "rml/kernels/float_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

// c[i, j] (+)= sum over p < depth of a[p * kTileRows + i] * b[p * b_stride + j], in kRows x
// kVectors registers. A and B stream from second-level cache: they are asked for a few steps ahead.
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
      const VF value = hn::Set(d, a[i]);
      RML_UNROLL
      for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::MulAdd(value, columns[j], sum[i][j]);
    }
    a += kTileRows;
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

// ---- Packing

// out[p * width + j] = b[first + p, column + j], widened; 0 where column + j >= column_end.
template <class T>
HWY_INLINE void PackPanel(const T* b, int64_t row_stride, int64_t column_stride, int64_t first,
                          int64_t depth, int64_t column, int64_t column_end, int64_t width,
                          float* HWY_RESTRICT out) {
  const DF d;
  const int64_t valid = column_end - column < width ? column_end - column : width;
  if (column_stride == 1) {
    const T* from = b + first * row_stride + column;
    for (int64_t p = 0; p < depth; ++p, from += row_stride, out += width) {
      int64_t j = 0;
      for (; j + kLanes <= valid; j += kLanes) hn::StoreU(LoadF32(d, from + j), d, out + j);
      if (j < width)
        hn::StoreU(j < valid ? LoadTail(d, from + j, valid - j) : hn::Zero(d), d, out + j);
    }
    return;
  }
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

// out[p * kTileRows + i] = a[i, p] for i < rows, widened.
template <class T>
HWY_INLINE void PackRows(const T* a, int64_t row_stride, int64_t column_stride, int64_t rows,
                         int64_t depth, float* HWY_RESTRICT out) {
  int64_t p = 0;
  if (column_stride == 1 && rows > 1) {
    const DF d;
    constexpr int kGroups = (kTileRows + kLanes - 1) / kLanes;  // of lines, a vector's lanes each
    const T* lines[kGroups * kLanes];  // those past the end are the last one again
    for (int64_t i = 0; i < kGroups * kLanes; ++i)
      lines[i] = a + (i < rows ? i : rows - 1) * row_stride;
    for (; p + 4 <= depth; p += 4) {
      VF columns[kGroups][4];
      RML_UNROLL
      for (int g = 0; g < kGroups; ++g) LoadTransposed4(lines + g * kLanes, p, columns[g]);
      // In order: what a store leaves beyond kTileRows, the next one overwrites.
      RML_UNROLL
      for (int q = 0; q < 4; ++q) {
        RML_UNROLL
        for (int g = 0; g < kGroups; ++g)
          hn::StoreU(columns[g][q], d, out + (p + q) * kTileRows + g * kLanes);
      }
    }
  }
  for (; p < depth; ++p) {
    const T* from = a + p * column_stride;
    for (int64_t i = 0; i < rows; ++i) out[p * kTileRows + i] = ScalarF32(from[i * row_stride]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
