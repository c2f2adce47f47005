// Blocking and packing of the bf16 GEMM: portable code around a panel kernel.
#include "rml/kernels/float_gemm_bf16.h"

#include <algorithm>
#include <cstring>

#include "rml/kernels/convert.h"
#include "rml/kernels/float_gemm.h"

namespace rml::kernels {

namespace {

constexpr int64_t kDepth = 256;  // columns in a block
constexpr int64_t kPairs = kDepth / 2;
constexpr int64_t kBlockM = 192;  // rows of x rounded at once
static_assert(static_cast<size_t>(kPairs * (kBf16PanelRows + kBlockM)) * sizeof(uint32_t) + 64 <=
              kFloatGemmScratchBytes);

// panel[p, r] = the pair of columns first + 2p, first + 2p + 1 of row r; zero where there is none.
void PackPanel(const uint16_t* w, int64_t cols, int64_t row, int64_t row_end, int64_t first,
               int64_t depth, uint32_t* panel) {
  for (int64_t r = 0; r < kBf16PanelRows; ++r) {
    const uint16_t* from = w + std::min(row + r, row_end - 1) * cols + first;
    for (int64_t p = 0; p < depth / 2; ++p) {
      std::memcpy(panel + p * kBf16PanelRows + r, from + 2 * p, sizeof(uint32_t));
    }
    if (depth % 2 != 0) panel[depth / 2 * kBf16PanelRows + r] = from[depth - 1];
  }
}

}  // namespace

void Bf16GemmRange(Bf16PanelFunction panel_times_x, const uint16_t* w, int64_t row_begin,
                   int64_t row_end, int64_t cols, const float* x, int64_t x_stride, int64_t m,
                   float* y, int64_t y_stride, bool accumulate, std::byte* scratch) {
  auto* panel = reinterpret_cast<uint32_t*>(scratch);  // [kPairs, 48]
  auto* rounded = panel + kPairs * kBf16PanelRows;     // [kBlockM, kPairs]
  for (int64_t first = 0; first < cols; first += kDepth) {
    const int64_t depth = std::min(kDepth, cols - first);
    const int64_t pairs = (depth + 1) / 2;
    for (int64_t i = 0; i < m; i += kBlockM) {
      const int64_t block_m = std::min(kBlockM, m - i);
      for (int64_t k = 0; k < block_m; ++k) {
        auto* row = reinterpret_cast<uint16_t*>(rounded + k * kPairs);
        F32ToBF16(x + (i + k) * x_stride + first, depth, row);
        if (depth % 2 != 0) row[depth] = 0;
      }
      for (int64_t row = row_begin; row < row_end; row += kBf16PanelRows) {
        PackPanel(w, cols, row, row_end, first, depth, panel);
        panel_times_x(panel, pairs, std::min(kBf16PanelRows, row_end - row), rounded, kPairs,
                      block_m, y + i * y_stride + row, y_stride, accumulate || first > 0);
      }
    }
  }
}

}  // namespace rml::kernels
