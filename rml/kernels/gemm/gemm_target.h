// What gemm.cc compiles once per ISA level, and what the portable code around it asks for.
#pragma once

#include "rml/kernels/gemm/gemm.h"

namespace rml::kernels {

// No block of k is deeper.
inline constexpr int64_t kMostGemmDepth = 512;

// Up to so many rows of A, chunks are as wide as threads allow: b is read along its rows.
inline constexpr int64_t kFewGemmRows = 4;

// One chunk: rows [row, row_end) and columns [column, column_end) of C, in blocks of `depth`.
struct GemmChunk {
  int64_t row, row_end, column, column_end;
  int64_t depth;
  float* a_panel;  // room for tile_rows rows of kMostGemmDepth + 16
  float* b_block;  // room for depth x the columns, in second-level cache
};

struct GemmTarget {
  int64_t tile_rows;    // of C in registers
  int64_t lanes;        // floats in a vector
  int64_t panel_width;  // columns of C in registers, a multiple of lanes
  // Packs columns [column, column_end) of rows [first, first + depth) of b in panels.
  void (*pack)(const GemmMatrix& b, int64_t first, int64_t depth, int64_t column,
               int64_t column_end, float* out);
  void (*run)(const GemmCall& call, const GemmChunk& chunk);
};

const GemmTarget& ActiveGemmTarget();

// Rows of b that are packed together: few enough for a panel of a to stay in first-level cache.
int64_t GemmDepth(const GemmTarget& target, int64_t k);

}  // namespace rml::kernels
