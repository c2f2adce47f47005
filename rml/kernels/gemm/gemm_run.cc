// The loops around the tile: blocks of k, tiles of rows, panels of columns.
#include <algorithm>
#include <cstring>

#include "rml/kernels/float_gemm.h"
#include "rml/kernels/gemm/gemm_lookahead.h"
#include "rml/kernels/gemm/gemm_target.h"

namespace rml::kernels {

namespace {

constexpr int64_t kMostTileRows = 16;
constexpr int64_t kMostPanelWidth = 64;

// How a chunk finds B: packed beforehand, packed by itself, or where it lies.
class Panels {
 public:
  Panels(const GemmTarget& target, const GemmCall& call, const GemmChunk& chunk)
      : target_(target), call_(call), chunk_(chunk) {
    // Where b lies by rows and meets few rows of a, packing it costs more than it saves.
    in_place_ = call.packed == nullptr && call.b.dtype == core::DType::kF32 &&
                call.b.column_stride == 1 && target.add_rows != nullptr &&
                chunk.row_end - chunk.row <= 2 * target.tile_rows;
  }

  bool packs() const { return call_.packed == nullptr && !in_place_; }

  void Begin(int64_t first, int64_t depth) {
    first_ = first;
    depth_ = depth;
    rows_ = target_.Words(depth) + target_.header;
    if (call_.packed != nullptr) {
      const int64_t before = target_.BlockWords(call_.sizes.n, target_.Words(chunk_.depth));
      block_ = call_.packed->words() + first / chunk_.depth * before + chunk_.column * rows_;
    } else if (!in_place_) {
      target_.pack_b(call_.b, first, depth, chunk_.column, chunk_.column_end, chunk_.b_block);
      block_ = static_cast<const float*>(chunk_.b_block);
    }
  }

  struct Panel {
    const float* words;
    int64_t stride;
  };
  // From `column`, `width` columns wide; `whole` when b has all of them.
  Panel At(int64_t column, int64_t width, bool whole) const {
    if (!in_place_) return {block_ + (column - chunk_.column) * rows_, width};
    if (whole) {
      return {static_cast<const float*>(call_.b.data) + first_ * call_.b.row_stride + column,
              call_.b.row_stride};
    }
    target_.pack_b(call_.b, first_, depth_, column, chunk_.column_end, chunk_.b_block);
    return {static_cast<const float*>(chunk_.b_block), width};
  }

 private:
  const GemmTarget& target_;
  const GemmCall& call_;
  const GemmChunk& chunk_;
  bool in_place_;
  int64_t first_ = 0, depth_ = 0, rows_ = 0;  // of the block; rows of words in a panel
  const float* block_ = nullptr;
};

// A tile whose last vector has columns that C has not: it passes through a buffer.
void EdgeTile(const GemmTarget& target, int64_t rows, int64_t valid, int64_t width, int64_t words,
              const void* a, const Panels::Panel& b, float* c, int64_t ldc, bool add) {
  alignas(64) float tile[kMostTileRows * kMostPanelWidth];
  const auto bytes = static_cast<size_t>(valid) * sizeof(float);
  if (add) {
    for (int64_t i = 0; i < rows; ++i) std::memcpy(tile + i * width, c + i * ldc, bytes);
  }
  target.tile(rows, width, words, a, b.words, b.stride, tile, width, add);
  for (int64_t i = 0; i < rows; ++i) std::memcpy(c + i * ldc, tile + i * width, bytes);
}

// Few rows of a and a b that lies by rows: each row of b is read once, from end to end.
void RunFewRows(const GemmTarget& target, const GemmCall& call, const GemmChunk& chunk) {
  const int64_t rows = chunk.row_end - chunk.row;
  const int64_t columns = chunk.column_end - chunk.column;
  const int64_t stride = target.PaddedColumns(columns);
  auto* const sums = static_cast<float*>(chunk.b_block);
  float* const c = call.c + chunk.row * call.ldc + chunk.column;
  const int64_t width = core::Info(call.b.dtype).block_bytes;
  for (int64_t first = 0; first < call.sizes.k; first += chunk.depth) {
    const int64_t depth = std::min(chunk.depth, call.sizes.k - first);
    target.pack_a(call.a, chunk.row, rows, first, depth, chunk.a_panel);
    std::fill_n(sums, rows * stride, 0.0f);
    const auto* const b = static_cast<const std::byte*>(call.b.data) +
                          (first * call.b.row_stride + chunk.column) * width;
    target.add_rows(call.b.dtype, rows, columns, depth, chunk.a_panel, b, call.b.row_stride, sums,
                    stride);
    const bool add = call.accumulate || first > 0;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        float& out = c[i * call.ldc + j];
        out = add ? out + sums[i * stride + j] : sums[i * stride + j];
      }
    }
  }
  if (call.epilogue.apply != nullptr) {
    call.epilogue.apply(call.epilogue.context, c, call.ldc, chunk.row, chunk.column, rows, columns);
  }
}

}  // namespace

void RunGemmChunk(const GemmTarget& target, const GemmCall& call, const GemmChunk& chunk) {
  const int64_t k = call.sizes.k;
  const int64_t columns = chunk.column_end - chunk.column;
  const int64_t panels = (columns + target.panel_width - 1) / target.panel_width;
  const int64_t tiles = (chunk.row_end - chunk.row + target.tile_rows - 1) / target.tile_rows;
  if (call.packed == nullptr && call.sizes.m <= kFewGemmRows && call.b.column_stride == 1 &&
      IsFloatGemmDType(call.b.dtype)) {
    return RunFewRows(FloatGemmTarget(), call, chunk);
  }
  Panels b(target, call, chunk);
  for (int64_t first = 0; first < k; first += chunk.depth) {
    const int64_t depth = std::min(chunk.depth, k - first);
    const int64_t words = target.Words(depth);
    const bool add = call.accumulate || first > 0;
    const bool last = first + depth == k;
    b.Begin(first, depth);
    // What is packed next comes while this is multiplied.
    Lookahead next_b;
    if (b.packs() && !last)
      next_b = Lookahead(call.b, first + depth, chunk.depth, chunk.column, columns);
    const int64_t b_share = next_b.pieces() / (panels * tiles) + 1;
    for (int64_t i = chunk.row; i < chunk.row_end; i += target.tile_rows) {
      const int64_t rows = std::min(target.tile_rows, chunk.row_end - i);
      target.pack_a(call.a, i, rows, first, depth, chunk.a_panel);
      Lookahead next_a;
      if (const int64_t next = i + target.tile_rows; next < chunk.row_end) {
        next_a = Lookahead(call.a, next, target.tile_rows, first, depth);
      } else if (!last) {
        next_a = Lookahead(call.a, chunk.row, target.tile_rows, first + depth, chunk.depth);
      }
      const int64_t a_share = next_a.pieces() / panels + 1;
      float* const c = call.c + i * call.ldc;
      for (int64_t j = chunk.column; j < chunk.column_end; j += target.panel_width) {
        const int64_t left = chunk.column_end - j;
        const int64_t width = std::min(target.panel_width, target.PaddedColumns(left));
        next_a.Fetch(a_share);
        next_b.Fetch(b_share);
        const Panels::Panel panel = b.At(j, width, width <= left);
        if (width <= left) {
          target.tile(rows, width, words, chunk.a_panel, panel.words, panel.stride, c + j, call.ldc,
                      add);
        } else {
          EdgeTile(target, rows, left, width, words, chunk.a_panel, panel, c + j, call.ldc, add);
        }
      }
      if (last && call.epilogue.apply != nullptr) {
        call.epilogue.apply(call.epilogue.context, c + chunk.column, call.ldc, i, chunk.column,
                            rows, columns);
      }
    }
  }
}

}  // namespace rml::kernels
