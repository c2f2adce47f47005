#include "rml/kernels/float_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rml/kernels/float_gemm.cc"
#include "hwy/foreach_target.h"

#include "rml/kernels/float_gemm.h"
#include "rml/kernels/float_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

// The arguments of one range, with typed weights.
template <class T>
struct GemmArgs {
  const T* w;
  int64_t row_begin, row_end, cols;
  const float* x;
  int64_t x_stride, m;
  float* y;
  int64_t y_stride;
  bool accumulate;
};

// ---- Few activations: dot products along the columns.

// kRows rows of w from `row` with kM rows of x from `i`. Two sums per product, of even and of odd
// vectors, in the same order whatever kRows and kM are. The next kRows rows are fetched meanwhile:
// the processor's own prefetching starts anew in each row and page.
template <int kRows, int kM, class T>
HWY_INLINE void DotTile(const GemmArgs<T>& g, int64_t row, int64_t i) {
  const DF d;
  const T* HWY_RESTRICT w = g.w + row * g.cols;
  const float* HWY_RESTRICT x = g.x + i * g.x_stride;
  VF even[kRows][kM];
  VF odd[kRows][kM];
  RML_UNROLL
  for (int r = 0; r < kRows; ++r) {
    RML_UNROLL
    for (int q = 0; q < kM; ++q) even[r][q] = odd[r][q] = hn::Zero(d);
  }
  int64_t c = 0;
  for (; c + 2 * kLanes <= g.cols; c += 2 * kLanes) {
    VF xe[kM];
    VF xo[kM];
    RML_UNROLL
    for (int q = 0; q < kM; ++q) {
      xe[q] = hn::LoadU(d, x + q * g.x_stride + c);
      xo[q] = hn::LoadU(d, x + q * g.x_stride + c + kLanes);
    }
    RML_UNROLL
    for (int r = 0; r < kRows; ++r) {
      if (i == 0) hwy::Prefetch(w + (r + kRows) * g.cols + c);
      const VF we = LoadF32(d, w + r * g.cols + c);
      const VF wo = LoadF32(d, w + r * g.cols + c + kLanes);
      RML_UNROLL
      for (int q = 0; q < kM; ++q) {
        even[r][q] = hn::MulAdd(we, xe[q], even[r][q]);
        odd[r][q] = hn::MulAdd(wo, xo[q], odd[r][q]);
      }
    }
  }
  for (; c < g.cols; c += kLanes) {
    const int64_t left = g.cols - c;
    RML_UNROLL
    for (int q = 0; q < kM; ++q) {
      const float* px = x + q * g.x_stride + c;
      const VF xv = left >= kLanes ? hn::LoadU(d, px) : LoadTail(d, px, left);
      RML_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const T* pw = w + r * g.cols + c;
        const VF wv = left >= kLanes ? LoadF32(d, pw) : LoadTail(d, pw, left);
        even[r][q] = hn::MulAdd(wv, xv, even[r][q]);
      }
    }
  }
  RML_UNROLL
  for (int q = 0; q < kM; ++q) {
    float* y = g.y + (i + q) * g.y_stride + row;
    RML_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const float sum = SumLanes(hn::Add(even[r][q], odd[r][q]));
      y[r] = g.accumulate ? y[r] + sum : sum;
    }
  }
}

template <int kRows, class T>
HWY_INLINE void DotRows(const GemmArgs<T>& g, int64_t row) {
  int64_t i = 0;
  for (; i + 3 <= g.m; i += 3) DotTile<kRows, 3>(g, row, i);
  if (i + 2 <= g.m) {
    DotTile<kRows, 2>(g, row, i);
  } else if (i < g.m) {
    DotTile<kRows, 1>(g, row, i);
  }
}

template <class T>
HWY_INLINE void Gemv(const GemmArgs<T>& g) {
  int64_t row = g.row_begin;
  if (g.m == 1) {
    for (; row + 4 <= g.row_end; row += 4) DotTile<4, 1>(g, row, 0);
    for (; row < g.row_end; ++row) DotTile<1, 1>(g, row, 0);
    return;
  }
  for (; row + 2 <= g.row_end; row += 2) DotRows<2>(g, row);
  if (row < g.row_end) DotRows<1>(g, row);
}

// ---- Many activations: panels of w, transposed and widened, stay in cache while x streams by.

constexpr int64_t kDepth = 256;     // columns of w in a packed panel
constexpr int64_t kBlockRows = 96;  // rows of w packed at once: a multiple of every panel width
constexpr int64_t kBlockM = 192;    // rows of x that meet the panels before the next ones
constexpr int64_t kPanel = kTileVectors * kLanes;
static_assert(kBlockRows % kPanel == 0);
static_assert(static_cast<size_t>(kDepth * kBlockRows + 16) * sizeof(float) <=
              kFloatGemmScratchBytes);

// One packed panel against m rows of x; `width` of the panel's columns exist in y.
HWY_NOINLINE void PanelTimesX(const float* panel, int64_t depth, int64_t width, const float* x,
                              int64_t x_stride, int64_t m, float* y, int64_t y_stride, bool add) {
  if (width == kPanel) {
    TileRows<kTileVectors>(m, depth, x, x_stride, panel, kPanel, y, y_stride, add);
    return;
  }
  // The last rows of the range: whole tiles go to a buffer, of which the existing part is kept.
  for (int64_t i = 0; i < m; i += kTileRows) {
    const int64_t rows = m - i < kTileRows ? m - i : kTileRows;
    HWY_ALIGN float tile[kTileRows * kPanel];
    TileRows<kTileVectors>(rows, depth, x + i * x_stride, x_stride, panel, kPanel, tile, kPanel,
                           false);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < width; ++j) {
        float* out = y + (i + r) * y_stride + j;
        *out = add ? *out + tile[r * kPanel + j] : tile[r * kPanel + j];
      }
    }
  }
}

template <class T>
HWY_INLINE void Gemm(const GemmArgs<T>& g, float* scratch) {
  for (int64_t first = 0; first < g.cols; first += kDepth) {
    const int64_t depth = g.cols - first < kDepth ? g.cols - first : kDepth;
    for (int64_t block = g.row_begin; block < g.row_end; block += kBlockRows) {
      const int64_t block_end = g.row_end - block < kBlockRows ? g.row_end : block + kBlockRows;
      for (int64_t row = block; row < block_end; row += kPanel) {
        const T* rows[kPanel];
        for (int64_t r = 0; r < kPanel; ++r) {  // past the end: the last row again, never stored
          rows[r] = g.w + (row + r < block_end ? row + r : block_end - 1) * g.cols;
        }
        PackTransposed<kTileVectors>(rows, first, depth, kPanel * g.cols,
                                     scratch + (row - block) * depth);
      }
      for (int64_t i = 0; i < g.m; i += kBlockM) {
        const int64_t i_end = g.m - i < kBlockM ? g.m : i + kBlockM;
        for (int64_t row = block; row < block_end; row += kPanel) {
          const int64_t width = block_end - row < kPanel ? block_end - row : kPanel;
          PanelTimesX(scratch + (row - block) * depth, depth, width, g.x + i * g.x_stride + first,
                      g.x_stride, i_end - i, g.y + i * g.y_stride + row, g.y_stride,
                      g.accumulate || first > 0);
        }
      }
    }
  }
}

template <class T>
HWY_INLINE void Run(const GemmArgs<T>& g, float* scratch) {
  if (g.m <= kFloatGemvMaxM) {
    Gemv(g);
  } else {
    Gemm(g, scratch);
  }
}

HWY_NOINLINE void GemmF32(const GemmArgs<float>& g, float* scratch) { Run(g, scratch); }
HWY_NOINLINE void GemmF16(const GemmArgs<F16>& g, float* scratch) { Run(g, scratch); }
HWY_NOINLINE void GemmBF16(const GemmArgs<BF16>& g, float* scratch) { Run(g, scratch); }

void FloatGemmTarget(core::DType w_dtype, const void* w, int64_t row_begin, int64_t row_end,
                     int64_t cols, const float* x, int64_t x_stride, int64_t m, float* y,
                     int64_t y_stride, bool accumulate, float* scratch) {
  if (w_dtype == core::DType::kF16) {
    GemmF16({static_cast<const F16*>(w), row_begin, row_end, cols, x, x_stride, m, y, y_stride,
             accumulate},
            scratch);
  } else if (w_dtype == core::DType::kBF16) {
    GemmBF16({static_cast<const BF16*>(w), row_begin, row_end, cols, x, x_stride, m, y, y_stride,
              accumulate},
             scratch);
  } else {
    GemmF32({static_cast<const float*>(w), row_begin, row_end, cols, x, x_stride, m, y, y_stride,
             accumulate},
            scratch);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "rml/core/check.h"
#include "rml/kernels/float_gemm_bf16.h"

namespace rml::kernels {

HWY_EXPORT(FloatGemmTarget);

void FloatGemmRange(core::DType w_dtype, const void* w, int64_t row_begin, int64_t row_end,
                    int64_t cols, const float* x, int64_t x_stride, int64_t m, float* y,
                    int64_t y_stride, bool accumulate, std::span<std::byte> scratch) {
  RML_CHECK(IsFloatGemmDType(w_dtype));
  if (row_begin >= row_end || m <= 0) return;
  float* aligned = nullptr;
  if (m > kFloatGemvMaxM) {
    RML_CHECK(scratch.size() >= kFloatGemmScratchBytes);
    const auto address = reinterpret_cast<uintptr_t>(scratch.data());
    aligned = reinterpret_cast<float*>((address + 63) & ~uintptr_t{63});
  }
  if (cols == 0 && !accumulate) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t r = row_begin; r < row_end; ++r) y[i * y_stride + r] = 0;
    }
    return;
  }
#if defined(__x86_64__)
  if (w_dtype == core::DType::kBF16 && m > kFloatGemvMaxM && ActiveIsa() == Isa::kAvx512Bf16) {
    Bf16GemmRange(Bf16PanelAvx512, static_cast<const uint16_t*>(w), row_begin, row_end, cols, x,
                  x_stride, m, y, y_stride, accumulate, reinterpret_cast<std::byte*>(aligned));
    return;
  }
#endif
  RML_SIMD_CALL(FloatGemmTarget)
  (w_dtype, w, row_begin, row_end, cols, x, x_stride, m, y, y_stride, accumulate, aligned);
}

}  // namespace rml::kernels

#endif  // HWY_ONCE
