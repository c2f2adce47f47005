// The GEMM in f32, and in f16 and bf16 by widening them when they are packed.
#include "rml/kernels/float_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rml/kernels/gemm/gemm_float.cc"
#include "hwy/foreach_target.h"

#include "rml/kernels/gemm/gemm_target.h"
#include "rml/kernels/gemm/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

constexpr int64_t kPanelWidth = kTileVectors * kLanes;

// Vectors up to the end of the columns, but no more than a panel.
HWY_INLINE int64_t WidthOfPanel(int64_t column, int64_t column_end) {
  const int64_t left = (column_end - column + kLanes - 1) / kLanes * kLanes;
  return left < kPanelWidth ? left : kPanelWidth;
}

template <class T>
HWY_INLINE void PackPanels(const GemmMatrix& b, int64_t first, int64_t depth, int64_t column,
                           int64_t column_end, float* out) {
  if (b.column_stride == 1) {
    return PackRowMajor(static_cast<const T*>(b.data), b.row_stride, first, depth, column,
                        column_end, out);
  }
  for (int64_t j = column; j < column_end; j += kPanelWidth) {
    const int64_t width = WidthOfPanel(j, column_end);
    PackPanel(static_cast<const T*>(b.data), b.row_stride, b.column_stride, first, depth, j,
              column_end, width, out);
    out += depth * width;
  }
}

void PackB(const GemmMatrix& b, int64_t first, int64_t depth, int64_t column, int64_t column_end,
           void* out) {
  auto* const to = static_cast<float*>(out);
  if (b.dtype == core::DType::kF16) {
    PackPanels<F16>(b, first, depth, column, column_end, to);
  } else if (b.dtype == core::DType::kBF16) {
    PackPanels<BF16>(b, first, depth, column, column_end, to);
  } else {
    PackPanels<float>(b, first, depth, column, column_end, to);
  }
}

template <class T>
HWY_INLINE void PackRowsOf(const GemmMatrix& a, int64_t row, int64_t rows, int64_t first,
                           int64_t depth, float* out) {
  PackRows(static_cast<const T*>(a.data) + row * a.row_stride + first * a.column_stride,
           a.row_stride, a.column_stride, rows, depth, out);
}

void PackA(const GemmMatrix& a, int64_t row, int64_t rows, int64_t first, int64_t depth,
           void* out) {
  auto* const to = static_cast<float*>(out);
  if (a.dtype == core::DType::kF16) {
    PackRowsOf<F16>(a, row, rows, first, depth, to);
  } else if (a.dtype == core::DType::kBF16) {
    PackRowsOf<BF16>(a, row, rows, first, depth, to);
  } else {
    PackRowsOf<float>(a, row, rows, first, depth, to);
  }
}

void AnyTile(int64_t rows, int64_t width, int64_t words, const void* a, const void* b,
             int64_t b_stride, float* c, int64_t ldc, bool add) {
  GemmTileOf(rows, width, words, static_cast<const float*>(a), static_cast<const float*>(b),
             b_stride, c, ldc, add);
}

template <class T>
HWY_INLINE void AddRowsOf(int64_t rows, int64_t columns, int64_t depth, const float* a, const T* b,
                          int64_t b_stride, float* sums, int64_t stride) {
  const auto add = rows == 1   ? AddRows<1, T>
                   : rows == 2 ? AddRows<2, T>
                   : rows == 3 ? AddRows<3, T>
                               : AddRows<4, T>;
  add(depth, columns, a, b, b_stride, sums, stride);
}

void AddAnyRows(core::DType dtype, int64_t rows, int64_t columns, int64_t depth, const void* a,
                const void* b, int64_t b_stride, float* sums, int64_t stride) {
  const auto* const from = static_cast<const float*>(a);
  if (dtype == core::DType::kF16) {
    AddRowsOf(rows, columns, depth, from, static_cast<const F16*>(b), b_stride, sums, stride);
  } else if (dtype == core::DType::kBF16) {
    AddRowsOf(rows, columns, depth, from, static_cast<const BF16*>(b), b_stride, sums, stride);
  } else {
    AddRowsOf(rows, columns, depth, from, static_cast<const float*>(b), b_stride, sums, stride);
  }
}

const GemmTarget* Target() {
  static constexpr GemmTarget kTarget = {.tile_rows = kTileRows,
                                         .lanes = kLanes,
                                         .panel_width = kPanelWidth,
                                         .word_values = 1,
                                         .header = 0,
                                         .pack_b = PackB,
                                         .pack_a = PackA,
                                         .tile = AnyTile,
                                         .add_rows = AddAnyRows};
  return &kTarget;
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace rml::kernels {

HWY_EXPORT(Target);

const GemmTarget& FloatGemmTarget() { return *RML_SIMD_CALL(Target)(); }

}  // namespace rml::kernels

#endif  // HWY_ONCE
