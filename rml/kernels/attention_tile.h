// One piece of attention's work, between attention.cc, which plans and schedules, and
// attention_tile.cc, which computes. Private to the kernels.
#pragma once

#include <cstdint>

#include "rml/core/dtype.h"

namespace rml::kernels {

// Columns are padded to this, so that the tiles of every target fit: two vectors of 16 floats.
inline constexpr int64_t kAttentionPadding = 32;

// The queries [0, queries) of one sequence with the `group` heads that share one KV head, against
// pages [page_begin, page_end). A row is a query and a head: row = query * group + head.
struct AttentionTile {
  core::DType dtype;
  int64_t head_dim, group, queries;
  const float* q;          // [queries, .., group, head_dim]
  int64_t q_stride;        // floats from one query to the next
  int64_t first_position;  // of query 0
  int64_t window;          // 0: no window
  float scale, soft_cap;
  const void* const* pages;
  int64_t key_offset, value_offset;  // bytes into a page, of this KV head
  int64_t page_begin, page_end;

  // When the tile is complete: out[row] = sums / weight. Else the three arrays are handed over as
  // they are, to be combined with those of the other page ranges.
  float* out;  // as q; null for a partial result
  int64_t out_stride;
  float* partial_sums;    // [rows, head_dim]
  float* partial_max;     // [rows]
  float* partial_weight;  // [rows]
};

// Scratch of one worker, in floats, for up to max_rows rows.
constexpr int64_t AttentionTileScratch(int64_t max_rows, int64_t head_dim) {
  const int64_t padded = (head_dim + kAttentionPadding - 1) / kAttentionPadding * kAttentionPadding;
  const int64_t page = 64;
  return max_rows * head_dim + 16  // q, scaled
         + max_rows * padded       // sums
         + max_rows * page         // scores
         + page * head_dim + 16    // keys, transposed
         + page * padded           // values
         + 3 * max_rows + 48;      // running maxima and weights, and the rows' queries
}

// Computes the tile; scratch is aligned to 64 bytes.
void ComputeAttentionTile(const AttentionTile& tile, float* scratch);

// Adds up `parts` partial results of a tile, in order: partial p's arrays start p * part_stride
// floats after those in `tile`.
void CombineAttentionParts(const AttentionTile& tile, int64_t parts, int64_t part_stride);

// Stores rows of keys and values of one token range; see StoreKv.
void StoreKvRows(core::DType dtype, int64_t kv_heads, int64_t head_dim, const float* k,
                 const float* v, int64_t row_stride, int64_t tokens, int64_t first_position,
                 void* const* pages);

}  // namespace rml::kernels
