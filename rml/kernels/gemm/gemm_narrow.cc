// The GEMM of bf16 and of bytes: their packing, and which arithmetic a CPU has for which dtype.
#include "rml/kernels/gemm/gemm_narrow.h"

#include <algorithm>
#include <cstring>

#include "rml/kernels/gemm/gemm_target.h"
#include "rml/kernels/isa.h"

namespace rml::kernels {

using core::DType;

namespace {

static_assert(kNarrowPanelStride == kGemmPanelStride);

#if defined(__x86_64__)

// One line along k: as many values as a word has bytes for, word after word, `step` words apart.
template <class T>
void PackLine(const T* from, int64_t stride, int64_t depth, int64_t step, uint32_t* out) {
  constexpr int64_t kCount = 4 / sizeof(T);
  for (int64_t p = 0; p < depth; p += kCount, out += step) {
    T values[kCount] = {};
    for (int64_t q = 0; q < std::min(kCount, depth - p); ++q) values[q] = from[(p + q) * stride];
    std::memcpy(out, values, sizeof(values));
  }
}

template <class T>
void PackA(const GemmMatrix& a, int64_t row, int64_t rows, int64_t first, int64_t depth,
           void* out) {
  const T* from = static_cast<const T*>(a.data) + row * a.row_stride + first * a.column_stride;
  for (int64_t i = 0; i < rows; ++i, from += a.row_stride) {
    auto* const to = static_cast<uint32_t*>(out) + i * kGemmPanelStride;
    if (a.column_stride == 1 && depth > 0) {
      to[(static_cast<size_t>(depth) * sizeof(T) - 1) / 4] = 0;
      std::memcpy(to, from, static_cast<size_t>(depth) * sizeof(T));
    } else {
      PackLine(from, a.column_stride, depth, 1, to);
    }
  }
}

// 128 more: what is signed becomes unsigned, and what was unsigned is taken for signed; the low
// bits of products are the same.
void PackByteA(const GemmMatrix& a, int64_t row, int64_t rows, int64_t first, int64_t depth,
               void* out) {
  PackA<uint8_t>(a, row, rows, first, depth, out);
  for (int64_t i = 0; i < rows; ++i) {
    auto* const line = static_cast<uint32_t*>(out) + i * kGemmPanelStride;
    for (int64_t p = 0; p < (depth + 3) / 4; ++p) line[p] ^= 0x80808080u;
  }
}

// One panel of b, by `pack_rows` where b lies by rows.
template <class T, class PackRows>
void PackPanel(const GemmMatrix& b, int64_t first, int64_t depth, int64_t column, int64_t columns,
               int64_t width, uint32_t* out, const PackRows& pack_rows) {
  constexpr int64_t kCount = 4 / sizeof(T);
  const T* const from =
      static_cast<const T*>(b.data) + first * b.row_stride + column * b.column_stride;
  if (b.column_stride == 1) return pack_rows(from, b.row_stride, depth, columns, width, out);
  if (b.row_stride == 1 && b.column_stride % kCount == 0 && depth % kCount == 0) {
    // Words as they lie: the f32 packing transposes them.
    const GemmMatrix words = {DType::kF32, from, 1, b.column_stride / kCount};
    return FloatGemmTarget().pack_b(words, 0, depth / kCount, 0, columns, out);
  }
  for (int64_t j = 0; j < width; ++j) {
    const bool exists = j < columns;
    PackLine(from + (exists ? j * b.column_stride : 0), b.row_stride, exists ? depth : 0, width,
             out + j);
    if (exists) continue;
    for (int64_t p = 0; p < (depth + kCount - 1) / kCount; ++p) out[p * width + j] = 0;
  }
}

// Calls body(column, columns that exist, width, words) for each panel in turn.
template <class Body>
void ForPanels(int64_t column, int64_t column_end, int64_t rows, void* out, const Body& body) {
  auto* to = static_cast<uint32_t*>(out);
  for (int64_t j = column; j < column_end; j += kNarrowPanelWidth) {
    const int64_t columns = std::min(kNarrowPanelWidth, column_end - j);
    const int64_t width = (columns + kNarrowLanes - 1) / kNarrowLanes * kNarrowLanes;
    body(j, columns, width, to);
    to += rows * width;
  }
}

void PackBf16B(const GemmMatrix& b, int64_t first, int64_t depth, int64_t column,
               int64_t column_end, void* out) {
  ForPanels(column, column_end, (depth + 1) / 2, out,
            [&](int64_t j, int64_t columns, int64_t width, uint32_t* to) {
              PackPanel<uint16_t>(b, first, depth, j, columns, width, to, Bf16PackAvx512);
            });
}

void PackByteB(const GemmMatrix& b, int64_t first, int64_t depth, int64_t column,
               int64_t column_end, void* out) {
  const int64_t words = (depth + 3) / 4;
  ForPanels(column, column_end, words + 1, out,
            [&](int64_t j, int64_t columns, int64_t width, uint32_t* to) {
              PackPanel<uint8_t>(b, first, depth, j, columns, width, to + width, BytePackVnni);
              ByteHeaderVnni(to + width, words, width, reinterpret_cast<int32_t*>(to));
            });
}

constexpr GemmTarget kBf16Target = {.tile_rows = kNarrowTileRows,
                                    .lanes = kNarrowLanes,
                                    .panel_width = kNarrowPanelWidth,
                                    .word_values = 2,
                                    .header = 0,
                                    .pack_b = PackBf16B,
                                    .pack_a = PackA<uint16_t>,
                                    .tile = Bf16TileAvx512,
                                    .add_rows = nullptr};

constexpr GemmTarget kByteTarget = {.tile_rows = kNarrowTileRows,
                                    .lanes = kNarrowLanes,
                                    .panel_width = kNarrowPanelWidth,
                                    .word_values = 4,
                                    .header = 1,
                                    .pack_b = PackByteB,
                                    .pack_a = PackByteA,
                                    .tile = ByteTileVnni,
                                    .add_rows = nullptr};

#endif

}  // namespace

const GemmTarget* GemmTargetFor(DType dtype) {
#if defined(__x86_64__)
  const Isa isa = ActiveIsa();
  if (dtype == DType::kBF16 && isa == Isa::kAvx512Bf16) return &kBf16Target;
  const bool vnni = isa == Isa::kAvx512Vnni || isa == Isa::kAvx512Bf16;
  if (vnni && (dtype == DType::kI8 || dtype == DType::kU8)) return &kByteTarget;
#endif
  if (dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16)
    return &FloatGemmTarget();
  return nullptr;
}

}  // namespace rml::kernels
