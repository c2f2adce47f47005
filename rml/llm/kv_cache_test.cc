#include "rml/llm/kv_cache.h"

#include <gtest/gtest.h>

#include <cstring>

#include "rml/core/memory_budget.h"

namespace rml::llm {
namespace {

constexpr int64_t kPage = kernels::kPageTokens;

KvCache MakeCache(int64_t max_tokens) {
  auto cache = KvCache::Make({.layout = {.dtype = core::DType::kF32, .kv_heads = 2, .head_dim = 4},
                              .layers = 3,
                              .max_tokens = max_tokens},
                             core::RunContext{});
  EXPECT_TRUE(cache.ok()) << cache.status().message();
  return *std::move(cache);
}

void Grow(KvCache& cache, SequenceId sequence, int64_t count) {
  ASSERT_TRUE(cache.Reserve(sequence, count).ok());
  cache.Commit(sequence, count);
}

// The key of one token in one layer and head, in place.
float* Key(const KvCache& cache, SequenceId sequence, int64_t layer, int head, int64_t position) {
  std::byte* page = cache.Pages(sequence)[static_cast<size_t>(position / kPage)] + layer * cache.layer_stride();
  return reinterpret_cast<float*>(page + cache.layout().KeyOffset(head)) + position % kPage * cache.layout().head_dim;
}

TEST(KvCache, TakesPagesAsSequencesGrow) {
  KvCache cache = MakeCache(4 * kPage);
  const SequenceId a = cache.NewSequence();
  EXPECT_EQ(cache.free_pages(), 4);
  Grow(cache, a, 1);
  EXPECT_EQ(cache.free_pages(), 3);
  Grow(cache, a, kPage - 1);
  EXPECT_EQ(cache.free_pages(), 3);
  Grow(cache, a, 1);
  EXPECT_EQ(cache.free_pages(), 2);
  EXPECT_EQ(cache.Length(a), kPage + 1);
}

TEST(KvCache, AFullCacheIsAnErrorThatChangesNothing) {
  KvCache cache = MakeCache(2 * kPage);
  const SequenceId a = cache.NewSequence();
  Grow(cache, a, kPage);
  const core::Status full = cache.Reserve(a, 2 * kPage);
  EXPECT_EQ(full.code(), core::StatusCode::kResourceExhausted);
  EXPECT_EQ(cache.free_pages(), 1);
  EXPECT_EQ(cache.Length(a), kPage);
  EXPECT_TRUE(cache.Reserve(a, kPage).ok());
}

TEST(KvCache, TruncateAndFreeGivePagesBack) {
  KvCache cache = MakeCache(4 * kPage);
  const SequenceId a = cache.NewSequence();
  Grow(cache, a, 3 * kPage);
  cache.Truncate(a, kPage + 1);
  EXPECT_EQ(cache.free_pages(), 2);
  cache.FreeSequence(a);
  EXPECT_EQ(cache.free_pages(), 4);
}

TEST(KvCache, AForkSharesPagesUntilItWrites) {
  KvCache cache = MakeCache(6 * kPage);
  const SequenceId a = cache.NewSequence();
  Grow(cache, a, kPage + 2);
  for (int64_t layer = 0; layer < 3; ++layer) *Key(cache, a, layer, 1, kPage + 1) = 10.0f + static_cast<float>(layer);
  const SequenceId b = cache.Fork(a, kPage + 2);
  EXPECT_EQ(cache.free_pages(), 4);
  EXPECT_EQ(cache.Pages(a)[1], cache.Pages(b)[1]);

  Grow(cache, b, 1);  // its last page is shared: it gets a copy
  EXPECT_EQ(cache.free_pages(), 3);
  EXPECT_EQ(cache.Pages(a)[0], cache.Pages(b)[0]);
  EXPECT_NE(cache.Pages(a)[1], cache.Pages(b)[1]);
  for (int64_t layer = 0; layer < 3; ++layer) {
    EXPECT_EQ(*Key(cache, b, layer, 1, kPage + 1), 10.0f + static_cast<float>(layer));
  }
  *Key(cache, b, 0, 1, kPage + 1) = 99;
  EXPECT_EQ(*Key(cache, a, 0, 1, kPage + 1), 10.0f);

  Grow(cache, a, 1);  // now alone on its page: no copy
  EXPECT_EQ(cache.free_pages(), 3);
}

TEST(KvCache, AForkOutlivesItsSource) {
  KvCache cache = MakeCache(4 * kPage);
  const SequenceId a = cache.NewSequence();
  Grow(cache, a, kPage + 5);
  *Key(cache, a, 2, 0, 3) = 7;
  const SequenceId b = cache.Fork(a, 10);
  cache.FreeSequence(a);
  EXPECT_EQ(cache.free_pages(), 3);
  EXPECT_EQ(*Key(cache, b, 2, 0, 3), 7);
  Grow(cache, b, 1);  // the only holder writes in place
  EXPECT_EQ(cache.free_pages(), 3);
}

TEST(KvCache, IdsOfFreedSequencesAreUsedAgain) {
  KvCache cache = MakeCache(2 * kPage);
  const SequenceId a = cache.NewSequence();
  cache.FreeSequence(a);
  const SequenceId b = cache.NewSequence();
  EXPECT_EQ(a, b);
  EXPECT_EQ(cache.Length(b), 0);
}

TEST(KvCache, ASizeThatOverflowsIsAnError) {
  const KvCache::Options options = {.layout = {.kv_heads = 1024, .head_dim = 1024},
                                    .layers = 4096,
                                    .max_tokens = int64_t{1} << 50};
  EXPECT_FALSE(KvCache::ReservedBytes(options).has_value());
  EXPECT_EQ(KvCache::Make(options, core::RunContext{}).status().code(), core::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace rml::llm
