// Causal attention over a paged cache of keys and values, for prefill, decode and mixtures of both.
//
// For the query at position p with head h, whose KV head is h / (heads / kv_heads):
//   y = sum over j of softmax_j(cap(scale * q·k[j])) * v[j],  j in [max(0, p - window + 1), p]
// computed page by page with a running maximum and sum (Milakov and Gimelshein 2018; Dao et al.
// 2022): nothing as long as the context is stored. All heads that share a KV head read it once.
// Scores, sums and outputs are f32. Work is split by shapes only, so results have the same bits on
// any pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rml/core/dtype.h"
#include "rml/core/thread_pool.h"

namespace rml::kernels {

inline constexpr int64_t kPageTokens = 64;

// One layer of one page: keys [kv_heads, 64, head_dim], then values of the same shape.
struct KvLayout {
  core::DType dtype = core::DType::kF16;  // f16 or f32
  int kv_heads = 0;
  int head_dim = 0;

  size_t ElementBytes() const { return dtype == core::DType::kF32 ? 4 : 2; }
  size_t HeadBytes() const {  // one KV head's keys, or values
    return static_cast<size_t>(kPageTokens) * static_cast<size_t>(head_dim) * ElementBytes();
  }
  size_t PageBytes() const { return 2 * static_cast<size_t>(kv_heads) * HeadBytes(); }
  size_t KeyOffset(int kv_head) const { return static_cast<size_t>(kv_head) * HeadBytes(); }
  size_t ValueOffset(int kv_head) const { return KeyOffset(kv_heads + kv_head); }
};

// Stores `tokens` rows of keys and values [tokens, kv_heads, head_dim] (rows row_stride floats
// apart) at positions first_position, first_position + 1 …. pages[i] holds 64 positions from 64 i
// on. Rows for different positions may be stored by different threads at once.
void StoreKv(const KvLayout& layout, const float* k, const float* v, int64_t row_stride,
             int64_t tokens, int64_t first_position, void* const* pages);

// The queries of one sequence: rows [query_begin, query_begin + query_count) of q, at positions
// first_position …. The keys and values of those positions and all before are in the cache; with a
// window, pages that hold nothing inside it are not read (their pointers may be null).
struct AttentionSequence {
  int64_t query_begin = 0;
  int64_t query_count = 0;
  int64_t first_position = 0;
  const void* const* pages = nullptr;
};

struct AttentionParams {
  KvLayout kv;
  int heads = 0;          // a multiple of kv.kv_heads
  float scale = 1.0f;     // multiplies q·k
  int64_t window = 0;     // attends to the last `window` positions, itself included; 0: to all
  float soft_cap = 0.0f;  // cap * tanh(score / cap); 0: none
};

// Scratch for Attention over up to max_queries queries in all (in any number of sequences), none at
// a position beyond max_context - 1. Alignment of the workspace does not matter.
size_t AttentionWorkspaceBytes(const AttentionParams& params, int64_t max_queries,
                               int64_t max_context, int threads);

// q and out are [tokens, heads, head_dim], contiguous. Rows of no sequence are left alone. out may
// be q. Allocates nothing.
void Attention(const AttentionParams& params, std::span<const AttentionSequence> sequences,
               const float* q, float* out, std::span<std::byte> workspace, core::ThreadPool& pool);

// The formula above, with f64 sums, one query at a time.
void AttentionReference(const AttentionParams& params, std::span<const AttentionSequence> sequences,
                        const float* q, float* out);

}  // namespace rml::kernels
