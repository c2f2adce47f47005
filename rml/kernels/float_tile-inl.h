// The register-blocked product that GEMM and attention are made of, and the packing that feeds it,
// compiled once per target.
//
// Tile: c[i, j] (+)= sum over p in [0, depth) of a[i, p] * b[p, j], for kRows rows and kVectors
// vectors of columns. Each sum runs over p in order in one lane; then c is added once.

#if defined(RML_KERNELS_FLOAT_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef RML_KERNELS_FLOAT_TILE_INL_H_
#undef RML_KERNELS_FLOAT_TILE_INL_H_
#else
#define RML_KERNELS_FLOAT_TILE_INL_H_
#endif

#include "rml/kernels/float_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

// 16 vector registers hold 6 x 2 sums, 2 of b and 1 of a; 32 registers hold 8 x 3 sums.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kTileRows = 8;
constexpr int kTileVectors = 3;
#else
constexpr int kTileRows = 6;
constexpr int kTileVectors = 2;
#endif

// b has b_stride elements from one p to the next (f32, f16 or bf16); c may be a row-major matrix.
template <int kRows, int kVectors, class T>
HWY_NOINLINE void Tile(int64_t depth, const float* HWY_RESTRICT a, int64_t a_stride,
                       const T* HWY_RESTRICT b, int64_t b_stride, float* HWY_RESTRICT c,
                       int64_t c_stride, bool add) {
  const DF d;
  VF sum[kRows][kVectors];
  RML_UNROLL
  for (int i = 0; i < kRows; ++i) {
    hwy::Prefetch(c + i * c_stride);  // wanted only after all of the depth
    RML_UNROLL
    for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(d);
  }
  for (int64_t p = 0; p < depth; ++p) {
    VF columns[kVectors];
    RML_UNROLL
    for (int j = 0; j < kVectors; ++j) columns[j] = LoadF32(d, b + j * kLanes);
    RML_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const VF row = hn::Set(d, a[i * a_stride + p]);
      RML_UNROLL
      for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::MulAdd(row, columns[j], sum[i][j]);
    }
    b += b_stride;
  }
  RML_UNROLL
  for (int i = 0; i < kRows; ++i) {
    RML_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      float* out = c + i * c_stride + j * kLanes;
      hn::StoreU(add ? hn::Add(hn::LoadU(d, out), sum[i][j]) : sum[i][j], d, out);
    }
  }
}

// Runs Tile over `rows` rows, the last ones in smaller tiles.
template <int kVectors, class T>
HWY_INLINE void TileRows(int64_t rows, int64_t depth, const float* a, int64_t a_stride, const T* b,
                         int64_t b_stride, float* c, int64_t c_stride, bool add) {
  int64_t i = 0;
  for (; i + kTileRows <= rows; i += kTileRows) {
    Tile<kTileRows, kVectors>(depth, a + i * a_stride, a_stride, b, b_stride, c + i * c_stride,
                              c_stride, add);
  }
  if (kTileRows > 4 && i + 4 <= rows) {
    Tile<4, kVectors>(depth, a + i * a_stride, a_stride, b, b_stride, c + i * c_stride, c_stride,
                      add);
    i += 4;
  }
  if (i + 2 <= rows) {
    Tile<2, kVectors>(depth, a + i * a_stride, a_stride, b, b_stride, c + i * c_stride, c_stride,
                      add);
    i += 2;
  }
  if (i < rows) {
    Tile<1, kVectors>(depth, a + i * a_stride, a_stride, b, b_stride, c + i * c_stride, c_stride,
                      add);
  }
}

// Four consecutive columns from each of kLanes rows, row r at rows[r] + column: vector q of `out`
// is column q of all rows.
template <class T>
HWY_INLINE void LoadTransposed4(const T* const* rows, int64_t column, VF out[4]) {
  const DF d;
  const hn::CappedTag<float, 4> d4;
  VF part[4];
  RML_UNROLL
  for (int q = 0; q < 4; ++q) {
#if HWY_MAX_BYTES == 16
    part[q] = LoadF32(d4, rows[q] + column);
#elif HWY_MAX_BYTES == 32
    part[q] = hn::Combine(d, LoadF32(d4, rows[q + 4] + column), LoadF32(d4, rows[q] + column));
#else
    const hn::Half<DF> dh;
    part[q] = hn::Combine(
        d, hn::Combine(dh, LoadF32(d4, rows[q + 12] + column), LoadF32(d4, rows[q + 8] + column)),
        hn::Combine(dh, LoadF32(d4, rows[q + 4] + column), LoadF32(d4, rows[q] + column)));
#endif
  }
  // 4 x 4 transpositions inside each 128-bit block.
  const hn::RepartitionToWide<DU> dw;
  const auto low01 = hn::BitCast(dw, hn::InterleaveLower(d, part[0], part[1]));
  const auto high01 = hn::BitCast(dw, hn::InterleaveUpper(d, part[0], part[1]));
  const auto low23 = hn::BitCast(dw, hn::InterleaveLower(d, part[2], part[3]));
  const auto high23 = hn::BitCast(dw, hn::InterleaveUpper(d, part[2], part[3]));
  out[0] = hn::BitCast(d, hn::InterleaveLower(dw, low01, low23));
  out[1] = hn::BitCast(d, hn::InterleaveUpper(dw, low01, low23));
  out[2] = hn::BitCast(d, hn::InterleaveLower(dw, high01, high23));
  out[3] = hn::BitCast(d, hn::InterleaveUpper(dw, high01, high23));
}

HWY_INLINE float ScalarF32(float x) { return x; }
HWY_INLINE float ScalarF32(F16 x) {
  const hn::CappedTag<float, 1> d1;
  return hn::GetLane(LoadF32(d1, &x));
}
HWY_INLINE float ScalarF32(BF16 x) {
  const hn::CappedTag<float, 1> d1;
  return hn::GetLane(LoadF32(d1, &x));
}

// panel[p, r] = rows[r][first + p] for p in [0, depth) and r in [0, kVectors * kLanes), widened.
// The panel's rows are contiguous. Lines `ahead` elements further are fetched: the next panel's.
template <int kVectors, class T>
HWY_INLINE void PackTransposed(const T* const* rows, int64_t first, int64_t depth, int64_t ahead,
                               float* HWY_RESTRICT panel) {
  const DF d;
  constexpr int64_t kWidth = kVectors * kLanes;
  if (ahead != 0) {
    for (int64_t r = 0; r < kWidth; ++r) PrefetchElements(rows[r] + first + ahead, depth);
  }
  int64_t p = 0;
  for (; p + 4 <= depth; p += 4) {
    RML_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      VF columns[4];
      LoadTransposed4(rows + j * kLanes, first + p, columns);
      RML_UNROLL
      for (int q = 0; q < 4; ++q) {
        hn::StoreU(columns[q], d, panel + (p + q) * kWidth + j * kLanes);
      }
    }
  }
  for (; p < depth; ++p) {
    for (int64_t r = 0; r < kWidth; ++r) panel[p * kWidth + r] = ScalarF32(rows[r][first + p]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
