// What one kind of arithmetic at one ISA level gives to the loops of gemm_run.cc: its tile of C in
// registers, and the packing that feeds it.
//
// The unit of packed operands is a word of 32 bits: one f32, two bf16 or four bytes that follow one
// another in k.
#pragma once

#include "rml/kernels/gemm/gemm.h"

namespace rml::kernels {

// No block of k has more words.
inline constexpr int64_t kMostGemmDepth = 512;
// From one row of A's panel to the next, in words. A constant, so that one register addresses the
// panel, and no multiple of 4 KiB, so that its rows do not compete for a place in the cache.
inline constexpr int64_t kGemmPanelStride = kMostGemmDepth + 16;
// Up to so many rows of A, chunks are as wide as threads allow: B is read along its rows.
inline constexpr int64_t kFewGemmRows = 4;

struct GemmTarget {
  int64_t tile_rows;    // of C in registers
  int64_t lanes;        // words in a vector
  int64_t panel_width;  // columns of C in registers, a multiple of lanes
  int64_t word_values;  // of k in a word: 1, 2 or 4
  int64_t header;       // rows of words in a panel of B before those of k: what the sums begin with

  // Columns [column, column_end) of rows [first, first + depth) of b, in panels of panel_width (the
  // last one of as many vectors as it needs). Panel by panel: header rows, then a row for each word
  // of k; zeros where b has no more values.
  void (*pack_b)(const GemmMatrix& b, int64_t first, int64_t depth, int64_t column,
                 int64_t column_end, void* out);
  // Rows [row, row + rows) of columns [first, first + depth) of a, rows <= tile_rows, each at a
  // multiple of kGemmPanelStride.
  void (*pack_a)(const GemmMatrix& a, int64_t row, int64_t rows, int64_t first, int64_t depth,
                 void* out);
  // c[i, j] (+)= the product of `words` words, for rows x width; width a multiple of lanes. Rows of
  // b are b_stride words apart.
  void (*tile)(int64_t rows, int64_t width, int64_t words, const void* a, const void* b,
               int64_t b_stride, float* c, int64_t ldc, bool add);
  // sums[i * stride + j] += a packed times b where it lies, for up to kFewGemmRows rows. Null where
  // no b is read in place.
  void (*add_rows)(core::DType dtype, int64_t rows, int64_t columns, int64_t depth, const void* a,
                   const void* b, int64_t b_stride, float* sums, int64_t stride);

  int64_t Words(int64_t values) const { return (values + word_values - 1) / word_values; }
  int64_t PaddedColumns(int64_t columns) const { return (columns + lanes - 1) / lanes * lanes; }
  // Words that a panel block takes.
  int64_t BlockWords(int64_t columns, int64_t words) const {
    return PaddedColumns(columns) * (words + header);
  }
};

// A part of C: rows [row, row_end) and columns [column, column_end), in blocks of `depth` values of
// k, which are whole words.
struct GemmChunk {
  int64_t row, row_end, column, column_end;
  int64_t depth;
  void* a_panel;  // tile_rows x kGemmPanelStride words, in first-level cache
  void* b_block;  // room for the columns' panels of a block, in second-level cache; or sums
};

void RunGemmChunk(const GemmTarget& target, const GemmCall& call, const GemmChunk& chunk);

// Of products of this dtype at the active ISA level; null where there are none.
const GemmTarget* GemmTargetFor(core::DType dtype);
const GemmTarget& FloatGemmTarget();  // f32, and f16 and bf16 by widening

}  // namespace rml::kernels
