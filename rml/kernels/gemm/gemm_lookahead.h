// Fetches a part of a matrix into second-level cache, a few lines at a time, while something else
// computes: what is packed next comes from far away otherwise.
#pragma once

#include <cstdint>

#include "rml/kernels/gemm/gemm.h"

namespace rml::kernels {

class Lookahead {
 public:
  // Rows [row, row + rows) and columns [column, column + columns), which may be more than there
  // are: nothing is read. A matrix that has gaps in both directions is left alone.
  Lookahead(const GemmMatrix& matrix, int64_t row, int64_t rows, int64_t column, int64_t columns) {
    const int64_t width = core::Info(matrix.dtype).block_bytes;
    const bool by_rows = matrix.column_stride == 1;
    if (!by_rows && matrix.row_stride != 1) return;
    lines_ = by_rows ? rows : columns;
    stride_ = (by_rows ? matrix.row_stride : matrix.column_stride) * width;
    bytes_ = (by_rows ? columns : rows) * width;
    at_ = static_cast<const char*>(matrix.data) +
          (row * matrix.row_stride + column * matrix.column_stride) * width;
  }
  Lookahead() = default;

  int64_t pieces() const { return lines_ * ((bytes_ + kPiece - 1) / kPiece); }

  void Fetch(int64_t pieces) {
    for (; pieces > 0 && lines_ > 0; --pieces) {
      __builtin_prefetch(at_ + offset_, 0, 2);
      offset_ += kPiece;
      if (offset_ < bytes_) continue;
      offset_ = 0;
      at_ += stride_;
      --lines_;
    }
  }

 private:
  static constexpr int64_t kPiece = 64;
  const char* at_ = nullptr;
  int64_t lines_ = 0;
  int64_t stride_ = 0;
  int64_t bytes_ = 0;
  int64_t offset_ = 0;
};

}  // namespace rml::kernels
