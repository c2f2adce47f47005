// Attention's plan: which queries and which pages make one piece of work. The arithmetic is in
// attention_tile.cc.
#include "rml/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "rml/core/carver.h"
#include "rml/core/check.h"
#include "rml/core/checked_math.h"
#include "rml/core/half.h"
#include "rml/kernels/attention_tile.h"

namespace rml::kernels {

namespace {

// Rows (queries times heads of a group) that meet a page together: enough to make widening and
// repacking it cheap, few enough that they and the page stay in a level-2 cache.
constexpr int64_t RowsWanted(int64_t head_dim) { return head_dim <= 128 ? 96 : 48; }
// With fewer tiles than this, tiles are made smaller and long contexts are cut into parts. A
// constant, never the number of threads: results must not depend on that.
constexpr int64_t kTilesWanted = 16;
constexpr int64_t kMinRows = 24;   // of a tile that was made smaller
constexpr int64_t kMaxParts = 32;  // in all
constexpr int64_t kMinPartPages = 4;

struct Item {
  int64_t sequence, kv_head;
  int64_t query_begin, query_count;  // within the sequence
  int64_t page_begin, page_end;
  int64_t part;   // slot of its partial result; -1: complete in itself
  int64_t parts;  // of the whole tile, starting at `part`, where it is the first
};

struct Sizes {
  int64_t group, max_rows, part_floats, worker_floats, items;
};

Sizes SizesFor(const AttentionParams& params, int64_t max_queries) {
  Sizes sizes;
  sizes.group = params.heads / params.kv.kv_heads;
  sizes.max_rows = std::max(RowsWanted(params.kv.head_dim), sizes.group);
  sizes.max_rows = std::min(sizes.max_rows, std::max<int64_t>(max_queries, 1) * sizes.group);
  sizes.part_floats = core::RoundUp<int64_t>(sizes.max_rows * (params.kv.head_dim + 2), 16);
  sizes.worker_floats =
      core::RoundUp<int64_t>(AttentionTileScratch(sizes.max_rows, params.kv.head_dim), 16);
  sizes.items = max_queries * params.kv.kv_heads + kMaxParts;
  return sizes;
}

int64_t Tiles(std::span<const AttentionSequence> sequences, int64_t kv_heads, int64_t queries) {
  int64_t tiles = 0;
  for (const AttentionSequence& s : sequences) tiles += core::CeilDiv(s.query_count, queries);
  return tiles * kv_heads;
}

class Plan {
 public:
  Plan(const AttentionParams& params, std::span<const AttentionSequence> sequences, Item* items)
      : params_(params), sequences_(sequences), items_(items) {
    const int64_t group = params.heads / params.kv.kv_heads;
    int64_t queries = std::max<int64_t>(1, RowsWanted(params.kv.head_dim) / group);
    tiles_ = Tiles(sequences, params.kv.kv_heads, queries);
    while (tiles_ < kTilesWanted && queries > 1 && queries * group > kMinRows) {
      queries = (queries + 1) / 2;
      tiles_ = Tiles(sequences, params.kv.kv_heads, queries);
    }
    for (size_t s = 0; s < sequences.size(); ++s) {
      const int64_t count = sequences[s].query_count;
      for (int64_t begin = 0; begin < count; begin += queries) {
        AddTile(static_cast<int64_t>(s), begin, std::min(queries, count - begin));
      }
    }
    // The heaviest first, so that no thread ends alone with a long piece.
    std::sort(items_, items_ + count_, [](const Item& a, const Item& b) {
      const int64_t cost_a = a.query_count * (a.page_end - a.page_begin);
      const int64_t cost_b = b.query_count * (b.page_end - b.page_begin);
      return cost_a > cost_b;
    });
  }

  int64_t count() const { return count_; }
  int64_t parts() const { return parts_; }

 private:
  void AddTile(int64_t sequence, int64_t query_begin, int64_t query_count) {
    const int64_t first = sequences_[static_cast<size_t>(sequence)].first_position + query_begin;
    const int64_t last = first + query_count - 1;
    Item item = {sequence, 0, query_begin, query_count, 0, last / kPageTokens + 1, -1, 1};
    if (params_.window > 0 && first >= params_.window) {
      item.page_begin = (first - params_.window + 1) / kPageTokens;
    }
    const int64_t page_end = item.page_end;
    const int64_t pages = page_end - item.page_begin;
    int64_t part_pages = pages;
    if (tiles_ < kTilesWanted) {
      part_pages = std::max(kMinPartPages, core::CeilDiv(pages, kMaxParts / tiles_));
    }
    const int64_t parts = core::CeilDiv(pages, part_pages);
    for (int h = 0; h < params_.kv.kv_heads; ++h) {
      item.kv_head = h;
      int64_t page = page_end - pages;
      for (int64_t part = 0; part < parts; ++part, page += part_pages) {
        item.page_begin = page;
        item.page_end = std::min(page_end, page + part_pages);
        item.part = parts > 1 ? parts_++ : -1;
        item.parts = part == 0 ? parts : 0;
        items_[count_++] = item;
      }
    }
  }

  const AttentionParams& params_;
  std::span<const AttentionSequence> sequences_;
  Item* items_;
  int64_t tiles_ = 0;
  int64_t count_ = 0;
  int64_t parts_ = 0;
};

}  // namespace

void StoreKv(const KvLayout& layout, const float* k, const float* v, int64_t row_stride,
             int64_t tokens, int64_t first_position, void* const* pages) {
  RML_CHECK(layout.dtype == core::DType::kF16 || layout.dtype == core::DType::kF32);
  StoreKvRows(layout.dtype, layout.kv_heads, layout.head_dim, k, v, row_stride, tokens,
              first_position, pages);
}

size_t AttentionWorkspaceBytes(const AttentionParams& params, int64_t max_queries,
                               int64_t max_context, int threads) {
  const Sizes sizes = SizesFor(params, max_queries);
  const bool has_parts = core::CeilDiv(max_context, kPageTokens) > kMinPartPages;
  const int64_t floats =
      (has_parts ? kMaxParts : 0) * sizes.part_floats + threads * sizes.worker_floats;
  return static_cast<size_t>(sizes.items) * sizeof(Item) +
         static_cast<size_t>(floats) * sizeof(float) + 3 * core::Carver::kAlign;
}

void Attention(const AttentionParams& params, std::span<const AttentionSequence> sequences,
               const float* q, float* out, std::span<std::byte> workspace, core::ThreadPool& pool) {
  const KvLayout& kv = params.kv;
  RML_CHECK(kv.dtype == core::DType::kF16 || kv.dtype == core::DType::kF32);
  RML_CHECK(kv.kv_heads > 0 && params.heads > 0 && params.heads % kv.kv_heads == 0);
  int64_t queries = 0;
  int64_t context = 0;
  for (const AttentionSequence& s : sequences) {
    queries += s.query_count;
    context = std::max(context, s.first_position + s.query_count);
  }
  if (queries == 0) return;
  RML_CHECK(workspace.size() >= AttentionWorkspaceBytes(params, queries, context, pool.threads()));

  const Sizes sizes = SizesFor(params, queries);
  core::Carver carver(workspace);
  auto* items = carver.Take<Item>(sizes.items);
  const Plan plan(params, sequences, items);
  auto* parts = carver.Take<float>(plan.parts() * sizes.part_floats);
  auto* workers = carver.Take<float>(pool.threads() * sizes.worker_floats);

  const int64_t row_floats = int64_t{params.heads} * kv.head_dim;
  const auto tile_of = [&](const Item& item) {
    const AttentionSequence& s = sequences[static_cast<size_t>(item.sequence)];
    const int64_t offset =
        (s.query_begin + item.query_begin) * row_floats + item.kv_head * sizes.group * kv.head_dim;
    AttentionTile tile = {};
    tile.dtype = kv.dtype;
    tile.head_dim = kv.head_dim;
    tile.group = sizes.group;
    tile.queries = item.query_count;
    tile.q = q + offset;
    tile.q_stride = row_floats;
    tile.first_position = s.first_position + item.query_begin;
    tile.window = params.window;
    tile.scale = params.scale;
    tile.soft_cap = params.soft_cap;
    tile.pages = s.pages;
    tile.key_offset = static_cast<int64_t>(kv.KeyOffset(static_cast<int>(item.kv_head)));
    tile.value_offset = static_cast<int64_t>(kv.ValueOffset(static_cast<int>(item.kv_head)));
    tile.page_begin = item.page_begin;
    tile.page_end = item.page_end;
    tile.out = out + offset;
    tile.out_stride = row_floats;
    if (item.part >= 0) {
      const int64_t rows = item.query_count * sizes.group;
      tile.partial_sums = parts + item.part * sizes.part_floats;
      tile.partial_max = tile.partial_sums + rows * kv.head_dim;
      tile.partial_weight = tile.partial_max + rows;
    }
    return tile;
  };

  pool.Run(plan.count(), [&](int64_t chunk, int worker) {
    AttentionTile tile = tile_of(items[chunk]);
    if (items[chunk].part >= 0) tile.out = nullptr;
    ComputeAttentionTile(tile, workers + worker * sizes.worker_floats);
  });
  if (plan.parts() == 0) return;
  pool.Run(plan.count(), [&](int64_t chunk, int) {
    const Item& item = items[chunk];
    if (item.parts > 1) CombineAttentionParts(tile_of(item), item.parts, sizes.part_floats);
  });
}

void AttentionReference(const AttentionParams& params, std::span<const AttentionSequence> sequences,
                        const float* q, float* out) {
  const KvLayout& kv = params.kv;
  const int64_t d = kv.head_dim;
  const int64_t group = params.heads / kv.kv_heads;
  const auto element = [&kv](const void* page, size_t offset, int64_t index) -> double {
    const auto* bytes = static_cast<const std::byte*>(page) + offset;
    if (kv.dtype == core::DType::kF32) return reinterpret_cast<const float*>(bytes)[index];
    return core::F16ToF32(reinterpret_cast<const uint16_t*>(bytes)[index]);
  };
  std::vector<double> scores;
  std::vector<double> y(static_cast<size_t>(d));
  for (const AttentionSequence& s : sequences) {
    for (int64_t i = 0; i < s.query_count; ++i) {
      for (int h = 0; h < params.heads; ++h) {
        const int kv_head = static_cast<int>(h / group);
        const int64_t row = ((s.query_begin + i) * params.heads + h) * d;
        const int64_t position = s.first_position + i;
        const int64_t first =
            params.window > 0 ? std::max<int64_t>(0, position - params.window + 1) : 0;
        scores.clear();
        for (int64_t j = first; j <= position; ++j) {
          double dot = 0;
          for (int64_t e = 0; e < d; ++e) {
            dot += q[row + e] * element(s.pages[j / kPageTokens], kv.KeyOffset(kv_head),
                                        j % kPageTokens * d + e);
          }
          dot *= params.scale;
          if (params.soft_cap != 0) dot = params.soft_cap * std::tanh(dot / params.soft_cap);
          scores.push_back(dot);
        }
        const double largest = *std::max_element(scores.begin(), scores.end());
        double total = 0;
        std::fill(y.begin(), y.end(), 0.0);
        for (int64_t j = first; j <= position; ++j) {
          const double weight = std::exp(scores[static_cast<size_t>(j - first)] - largest);
          total += weight;
          for (int64_t e = 0; e < d; ++e) {
            y[static_cast<size_t>(e)] +=
                weight *
                element(s.pages[j / kPageTokens], kv.ValueOffset(kv_head), j % kPageTokens * d + e);
          }
        }
        for (int64_t e = 0; e < d; ++e) {
          out[row + e] = static_cast<float>(y[static_cast<size_t>(e)] / total);
        }
      }
    }
  }
}

}  // namespace rml::kernels
