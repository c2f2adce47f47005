// The loops of the GEMM for bf16 and bytes that need instructions of their own: tiles of 8 x 48 and
// the packing of matrices that lie by rows. Raw pointers only: the files that define them are
// compiled for an ISA.
//
// The caller's packed A has a row each kNarrowPanelStride words.
#pragma once

#include <cstdint>

namespace rml::kernels {

inline constexpr int64_t kNarrowTileRows = 8;
inline constexpr int64_t kNarrowLanes = 16;
inline constexpr int64_t kNarrowPanelWidth = 48;
inline constexpr int64_t kNarrowPanelStride = 528;

// c (+)= sums of products of pairs of bf16, by VDPBF16PS.
void Bf16TileAvx512(int64_t rows, int64_t width, int64_t words, const void* a, const void* b,
                    int64_t b_stride, float* c, int64_t ldc, bool add);
// out[p * width + j] = the pair b[2p, j], b[2p + 1, j] for j < columns; zeros beyond `columns` and
// `depth`. b points at the panel's first element.
void Bf16PackAvx512(const uint16_t* b, int64_t row_stride, int64_t depth, int64_t columns,
                    int64_t width, uint32_t* out);

// c (+)= sums of products of four bytes by VPDPBUSD, those of A with 128 added, those of B signed.
// The sums begin with the panel's header row, which takes the 128 away again.
void ByteTileVnni(int64_t rows, int64_t width, int64_t words, const void* a, const void* b,
                  int64_t b_stride, float* c, int64_t ldc, bool add);
// The same for four rows of bytes.
void BytePackVnni(const uint8_t* b, int64_t row_stride, int64_t depth, int64_t columns,
                  int64_t width, uint32_t* out);
// out[j] = -128 times the sum of column j of a packed panel.
void ByteHeaderVnni(const uint32_t* panel, int64_t words, int64_t width, int32_t* out);

}  // namespace rml::kernels
