#include "rml/kernels/float_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rml/kernels/gemm/gemm.cc"
#include "hwy/foreach_target.h"

#include "rml/kernels/gemm/gemm_lookahead.h"
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

void Pack(const GemmMatrix& b, int64_t first, int64_t depth, int64_t column, int64_t column_end,
          float* out) {
  if (b.dtype == core::DType::kF16)
    return PackPanels<F16>(b, first, depth, column, column_end, out);
  if (b.dtype == core::DType::kBF16)
    return PackPanels<BF16>(b, first, depth, column, column_end, out);
  PackPanels<float>(b, first, depth, column, column_end, out);
}

template <class T>
HWY_INLINE void RowsOf(const GemmMatrix& a, int64_t row, int64_t first, int64_t rows, int64_t depth,
                       const GemmChunk& chunk) {
  PackRows(static_cast<const T*>(a.data) + row * a.row_stride + first * a.column_stride,
           a.row_stride, a.column_stride, rows, depth, chunk.a_panel);
}

HWY_NOINLINE void PackA(const GemmMatrix& a, int64_t row, int64_t first, int64_t rows,
                        int64_t depth, const GemmChunk& chunk) {
  if (a.dtype == core::DType::kF16) return RowsOf<F16>(a, row, first, rows, depth, chunk);
  if (a.dtype == core::DType::kBF16) return RowsOf<BF16>(a, row, first, rows, depth, chunk);
  return RowsOf<float>(a, row, first, rows, depth, chunk);
}

// A tile whose last vector has columns that C has not: it goes to a buffer first.
HWY_NOINLINE void EdgeTile(int64_t rows, int64_t valid, int64_t width, int64_t depth,
                           const float* a, const float* b, float* c, int64_t ldc, bool add) {
  HWY_ALIGN float tile[kTileRows * kPanelWidth];
  GemmTileOf(rows, width, depth, a, b, width, tile, kPanelWidth, false);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < valid; ++j) {
      float* out = c + i * ldc + j;
      *out = add ? *out + tile[i * kPanelWidth + j] : tile[i * kPanelWidth + j];
    }
  }
}

// A panel of b as the tiles read it: packed, or where it lies.
struct Panel {
  const float* b;
  int64_t stride;
};

// Where b lies by rows and meets few rows of a, packing it would cost more than it saves.
constexpr int64_t kDirectRows = 2 * kTileRows;

HWY_INLINE bool IsDirect(const GemmCall& call, const GemmChunk& chunk) {
  return call.packed == nullptr && call.b.dtype == core::DType::kF32 && call.b.column_stride == 1 &&
         chunk.row_end - chunk.row <= kDirectRows;
}

// Few rows of a and a b that lies by rows: a chunk in which each row of b is read once, in order.
void RunFewRows(const GemmCall& call, const GemmChunk& chunk) {
  const int64_t rows = chunk.row_end - chunk.row;
  const int64_t columns = chunk.column_end - chunk.column;
  const int64_t stride = (columns + kLanes - 1) / kLanes * kLanes;
  float* const sums = chunk.b_block;
  float* const c = call.c + chunk.row * call.ldc + chunk.column;
  for (int64_t first = 0; first < call.sizes.k; first += chunk.depth) {
    const int64_t left = call.sizes.k - first;
    const int64_t depth = left < chunk.depth ? left : chunk.depth;
    PackA(call.a, chunk.row, first, rows, depth, chunk);
    for (int64_t i = 0; i < rows * stride; ++i) sums[i] = 0;
    const float* b =
        static_cast<const float*>(call.b.data) + first * call.b.row_stride + chunk.column;
    const auto add = rows == 1   ? AddRows<1>
                     : rows == 2 ? AddRows<2>
                     : rows == 3 ? AddRows<3>
                                 : AddRows<4>;
    add(depth, columns, chunk.a_panel, b, call.b.row_stride, sums, stride);
    const bool keep = call.accumulate || first > 0;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        float* out = c + i * call.ldc + j;
        *out = keep ? *out + sums[i * stride + j] : sums[i * stride + j];
      }
    }
  }
  if (call.epilogue.apply != nullptr) {
    call.epilogue.apply(call.epilogue.context, c, call.ldc, chunk.row, chunk.column, rows, columns);
  }
}

void RunChunk(const GemmCall& call, const GemmChunk& chunk) {
  const int64_t k = call.sizes.k;
  const int64_t padded_n = (call.sizes.n + kLanes - 1) / kLanes * kLanes;
  const bool direct = IsDirect(call, chunk);
  if (direct && call.sizes.m <= kFewGemmRows) return RunFewRows(call, chunk);
  for (int64_t first = 0; first < k; first += chunk.depth) {
    const int64_t depth = k - first < chunk.depth ? k - first : chunk.depth;
    const bool add = call.accumulate || first > 0;
    const bool last = first + depth == k;
    const float* block = chunk.b_block;
    if (call.packed != nullptr) {
      block = call.packed->data() + first * padded_n + chunk.column * depth;
    } else if (!direct) {
      Pack(call.b, first, depth, chunk.column, chunk.column_end, chunk.b_block);
    }
    const int64_t panels = (chunk.column_end - chunk.column + kPanelWidth - 1) / kPanelWidth;
    const int64_t tiles = (chunk.row_end - chunk.row + kTileRows - 1) / kTileRows;
    Lookahead next_b;
    if (call.packed == nullptr && !direct && !last) {
      next_b = Lookahead(call.b, first + depth, chunk.depth, chunk.column,
                         chunk.column_end - chunk.column);
    }
    const int64_t b_share = next_b.pieces() / (panels * tiles) + 1;
    for (int64_t i = chunk.row; i < chunk.row_end; i += kTileRows) {
      const int64_t rows = chunk.row_end - i < kTileRows ? chunk.row_end - i : kTileRows;
      PackA(call.a, i, first, rows, depth, chunk);
      Lookahead next_a;
      if (const int64_t next = i + kTileRows; next < chunk.row_end) {
        next_a = Lookahead(call.a, next, kTileRows, first, depth);
      } else if (!last) {
        next_a = Lookahead(call.a, chunk.row, kTileRows, first + depth, chunk.depth);
      }
      const int64_t a_share = next_a.pieces() / panels + 1;
      float* const c = call.c + i * call.ldc;
      for (int64_t j = chunk.column; j < chunk.column_end; j += kPanelWidth) {
        const int64_t width = WidthOfPanel(j, chunk.column_end);
        const bool whole = j + width <= chunk.column_end;
        next_a.Fetch(a_share);
        next_b.Fetch(b_share);
        Panel panel = {block + (j - chunk.column) * depth, width};
        if (direct && whole) {
          panel = {static_cast<const float*>(call.b.data) + first * call.b.row_stride + j,
                   call.b.row_stride};
        } else if (direct) {
          Pack(call.b, first, depth, j, chunk.column_end, chunk.b_block);
          panel.b = chunk.b_block;
        }
        if (whole) {
          GemmTileOf(rows, width, depth, chunk.a_panel, panel.b, panel.stride, c + j, call.ldc,
                     add);
        } else {
          EdgeTile(rows, chunk.column_end - j, width, depth, chunk.a_panel, panel.b, c + j,
                   call.ldc, add);
        }
      }
      if (last && call.epilogue.apply != nullptr) {
        call.epilogue.apply(call.epilogue.context, c + chunk.column, call.ldc, i, chunk.column,
                            rows, chunk.column_end - chunk.column);
      }
    }
  }
}

const GemmTarget* Target() {
  static constexpr GemmTarget kTarget = {kTileRows, kLanes, kPanelWidth, Pack, RunChunk};
  return &kTarget;
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace rml::kernels {

HWY_EXPORT(Target);

const GemmTarget& ActiveGemmTarget() { return *RML_SIMD_CALL(Target)(); }

}  // namespace rml::kernels

#endif  // HWY_ONCE
