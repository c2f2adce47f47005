// The layouts that the quantised kernels of every ISA share. Plain data and raw pointers: files
// compiled for one ISA include this header.
//
// Activations x [m, cols] are rounded to int8, per 32 columns (for Q4_0 … Q8_0) or per 256 (for the
// K types). Their codes lie in chunks of 256 columns, the last one maybe narrower: chunk c starts
// at codes + 256 c m, and row i of it at i · width. So what a kernel reads of one chunk is
// contiguous, and one row alone is an ordinary row.
//
// A panel is 16 rows of weights, unpacked to one byte per code for a few chunks of columns. Codes
// are interleaved so that one vector holds 4 consecutive columns of each row: [column / 4][16][4].
// It lives in a thread's cache, and is multiplied with all rows of x.
#pragma once

#include <stdint.h>

namespace rml::kernels {

inline constexpr int kPanelRows = 16;
inline constexpr int kChunkCols = 256;  // columns in a chunk of activations
inline constexpr int kPanelCols = 512;  // columns that a panel covers at most: 8 KiB of codes
inline constexpr int kPanelBlocks = kPanelCols / 32;
inline constexpr int kPanelSuperBlocks = kPanelCols / 256;

// Activations with one scale per 32 columns. x ≈ scale · code.
struct Activations32 {
  int8_t* codes;  // chunked as above, in [-127, 127]
  float* scales;  // [cols / 32][m]
  float* sums;    // [cols / 32][m]: scale · sum of the block's codes
};

// Activations with one scale per 256 columns.
struct Activations256 {
  int8_t* codes;    // chunked as above, in [-127, 127]
  float* scales;    // [cols / 256][m]
  int16_t* sums16;  // [cols / 256][m][16]: sums of the codes of 16 columns
  int16_t* sums32;  // [cols / 256][m][8]: and of 32
};

// w = d · code + m, one d and m per row and 32 columns. Where an ISA cannot multiply 8-bit codes
// exactly (AVX2), those of Q8_0 are split into planes: per block the high nibbles [8][16][4], then
// the low ones; code = 16 high + low.
struct Panel32 {
  uint8_t* codes;  // [blocks][planes][8][16][4]
  float* d;        // [blocks][16]
  float* m;        // [blocks][16]
};

// w = d · scale · code - dmin · min, d and dmin per row and 256 columns, scale and min per group.
struct Panel256 {
  uint8_t* codes;   // [super-blocks][64][16][4]
  int16_t* scales;  // [super-blocks][groups][16][2]: each scale twice
  int16_t* mins;    // [super-blocks][groups / 2][16][2]: the minima of two neighbouring groups
  float* d;         // [super-blocks][16]
  float* dmin;      // [super-blocks][16]
};

// Which 16 rows and columns of a matrix a panel is unpacked from. Rows past the matrix's end repeat
// the last one; what comes of them is dropped.
struct PanelSource {
  const uint8_t* rows[kPanelRows];  // first block of each row to unpack
  int64_t blocks;                   // blocks (of 32 or 256 columns) to unpack
};

}  // namespace rml::kernels
