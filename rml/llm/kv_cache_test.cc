#include "rml/llm/kv_cache.h"

#include <gtest/gtest.h>

#include <cstring>

#include "rml/core/memory_budget.h"

namespace rml::llm {
namespace {

constexpr int64_t kPage = kernels::kPageTokens;

KvCache MakeCache(int64_t context, std::vector<int64_t> windows = {0, 0, 0},
                  int64_t step_tokens = 64) {
  auto cache = KvCache::Make({.layout = {.dtype = core::DType::kF32, .kv_heads = 2, .head_dim = 4},
                              .windows = std::move(windows),
                              .context = context,
                              .step_tokens = step_tokens},
                             core::RunContext{});
  EXPECT_TRUE(cache.ok()) << cache.status().message();
  return *std::move(cache);
}

void Grow(KvCache& cache, SequenceId sequence, int64_t count) {
  ASSERT_TRUE(cache.Reserve(sequence, count).ok());
  cache.Commit(sequence, count);
}

std::vector<void*> Pages(const KvCache& cache, SequenceId sequence, int64_t layer = 0) {
  std::vector<void*> pages(static_cast<size_t>(cache.PageCount(sequence)));
  cache.PagesOfLayer(sequence, layer, pages.data());
  return pages;
}

// The key of one token in one layer and head, in place.
float* Key(const KvCache& cache, SequenceId sequence, int64_t layer, int head, int64_t position) {
  auto* page =
      static_cast<std::byte*>(Pages(cache, sequence, layer)[static_cast<size_t>(position / kPage)]);
  return reinterpret_cast<float*>(page + cache.layout().KeyOffset(head)) +
         position % kPage * cache.layout().head_dim;
}

TEST(KvCache, TakesPagesAsSequencesGrow) {
  KvCache cache = MakeCache(4 * kPage);
  const SequenceId a = cache.NewSequence();
  EXPECT_EQ(cache.free_pages(0), 4);
  Grow(cache, a, 1);
  EXPECT_EQ(cache.free_pages(0), 3);
  Grow(cache, a, kPage - 1);
  EXPECT_EQ(cache.free_pages(0), 3);
  Grow(cache, a, 1);
  EXPECT_EQ(cache.free_pages(0), 2);
  EXPECT_EQ(cache.Length(a), kPage + 1);
}

TEST(KvCache, AFullCacheIsAnErrorThatChangesNothing) {
  KvCache cache = MakeCache(2 * kPage);
  const SequenceId a = cache.NewSequence();
  Grow(cache, a, kPage);
  const core::Status full = cache.Reserve(a, 2 * kPage);
  EXPECT_EQ(full.code(), core::StatusCode::kResourceExhausted);
  EXPECT_EQ(cache.free_pages(0), 1);
  EXPECT_EQ(cache.Length(a), kPage);
  EXPECT_TRUE(cache.Reserve(a, kPage).ok());
}

TEST(KvCache, TruncateAndFreeGivePagesBack) {
  KvCache cache = MakeCache(4 * kPage);
  const SequenceId a = cache.NewSequence();
  Grow(cache, a, 3 * kPage);
  cache.Truncate(a, kPage + 1);
  EXPECT_EQ(cache.free_pages(0), 2);
  cache.FreeSequence(a);
  EXPECT_EQ(cache.free_pages(0), 4);
}

TEST(KvCache, AForkSharesPagesUntilItWrites) {
  KvCache cache = MakeCache(6 * kPage);
  const SequenceId a = cache.NewSequence();
  Grow(cache, a, kPage + 2);
  for (int64_t layer = 0; layer < 3; ++layer)
    *Key(cache, a, layer, 1, kPage + 1) = 10.0f + static_cast<float>(layer);
  const SequenceId b = cache.Fork(a, kPage + 2);
  EXPECT_EQ(cache.free_pages(0), 4);
  EXPECT_EQ(Pages(cache, a)[1], Pages(cache, b)[1]);

  Grow(cache, b, 1);  // its last page is shared: it gets a copy
  EXPECT_EQ(cache.free_pages(0), 3);
  EXPECT_EQ(Pages(cache, a)[0], Pages(cache, b)[0]);
  EXPECT_NE(Pages(cache, a)[1], Pages(cache, b)[1]);
  for (int64_t layer = 0; layer < 3; ++layer) {
    EXPECT_EQ(*Key(cache, b, layer, 1, kPage + 1), 10.0f + static_cast<float>(layer));
  }
  *Key(cache, b, 0, 1, kPage + 1) = 99;
  EXPECT_EQ(*Key(cache, a, 0, 1, kPage + 1), 10.0f);

  Grow(cache, a, 1);  // now alone on its page: no copy
  EXPECT_EQ(cache.free_pages(0), 3);
}

TEST(KvCache, AForkOutlivesItsSource) {
  KvCache cache = MakeCache(4 * kPage);
  const SequenceId a = cache.NewSequence();
  Grow(cache, a, kPage + 5);
  *Key(cache, a, 2, 0, 3) = 7;
  const SequenceId b = cache.Fork(a, 10);
  cache.FreeSequence(a);
  EXPECT_EQ(cache.free_pages(0), 3);
  EXPECT_EQ(*Key(cache, b, 2, 0, 3), 7);
  Grow(cache, b, 1);  // the only holder writes in place
  EXPECT_EQ(cache.free_pages(0), 3);
}

TEST(KvCache, IdsOfFreedSequencesAreUsedAgain) {
  KvCache cache = MakeCache(2 * kPage);
  const SequenceId a = cache.NewSequence();
  cache.FreeSequence(a);
  const SequenceId b = cache.NewSequence();
  EXPECT_EQ(a, b);
  EXPECT_EQ(cache.Length(b), 0);
}

// Layers 0 and 2 see 100 positions, layer 1 all.
KvCache MakeWindowed() { return MakeCache(32 * kPage, {100, 0, 100}); }

TEST(KvCache, AWindowGivesBackWhatNoQueryCanSee) {
  KvCache cache = MakeWindowed();
  const SequenceId a = cache.NewSequence();
  const int64_t windowed = cache.free_pages(0), full = cache.free_pages(1);
  EXPECT_EQ(full, 32);
  EXPECT_LT(windowed, 12);  // 100 + 64 + 256 tokens and two pages
  for (int step = 0; step < 32; ++step)
    Grow(cache, a, kPage);  // far more than the windowed pages hold
  EXPECT_EQ(cache.Length(a), 32 * kPage);
  EXPECT_EQ(cache.free_pages(1), 0);

  const std::vector<void*> pages = Pages(cache, a, 0);
  ASSERT_EQ(pages.size(), 32u);
  // The query at 2048 sees from 1949 on, in page 30; 256 tokens of rewind reach to 1693, in
  // page 26.
  for (size_t i = 0; i < pages.size(); ++i) EXPECT_EQ(pages[i] == nullptr, i < 26) << i;
  EXPECT_EQ(cache.free_pages(0), windowed - 6);
  for (const void* page : Pages(cache, a, 1)) EXPECT_NE(page, nullptr);
}

TEST(KvCache, LayersOfOneGroupHaveTheirOwnMemory) {
  KvCache cache = MakeWindowed();
  const SequenceId a = cache.NewSequence();
  Grow(cache, a, kPage);
  for (int64_t layer = 0; layer < 3; ++layer)
    *Key(cache, a, layer, 1, 5) = static_cast<float>(layer + 1);
  for (int64_t layer = 0; layer < 3; ++layer)
    EXPECT_EQ(*Key(cache, a, layer, 1, 5), static_cast<float>(layer + 1));
}

TEST(KvCache, ARewindWithinReachKeepsTheSequence) {
  KvCache cache = MakeWindowed();
  const SequenceId a = cache.NewSequence();
  for (int step = 0; step < 20; ++step) Grow(cache, a, kPage);
  const int64_t length = 20 * kPage - KvCache::kRewindTokens;
  EXPECT_EQ(cache.Truncate(a, length), length);
  Grow(cache, a, 10);
  EXPECT_EQ(cache.Length(a), length + 10);
}

TEST(KvCache, ARewindTooFarForgetsEverything) {
  KvCache cache = MakeWindowed();
  const SequenceId a = cache.NewSequence();
  for (int step = 0; step < 20; ++step) Grow(cache, a, kPage);
  EXPECT_EQ(cache.Length(cache.Fork(a, 200)), 0);
  EXPECT_EQ(cache.Truncate(a, 200), 0);
  EXPECT_EQ(cache.free_pages(1), 32);
  Grow(cache, a, 10);
}

TEST(KvCache, AForkOfAWindowedSequenceSharesWhatIsLeft) {
  KvCache cache = MakeWindowed();
  const SequenceId a = cache.NewSequence();
  for (int step = 0; step < 20; ++step) Grow(cache, a, kPage);
  const int64_t free = cache.free_pages(0);
  const SequenceId b = cache.Fork(a, 20 * kPage);
  EXPECT_EQ(cache.Length(b), 20 * kPage);
  EXPECT_EQ(cache.free_pages(0), free);
  cache.FreeSequence(a);
  EXPECT_EQ(cache.free_pages(0), free);  // b holds them
  cache.FreeSequence(b);
  EXPECT_EQ(cache.free_pages(1), 32);
}

TEST(KvCache, ASizeThatOverflowsIsAnError) {
  const KvCache::Options options = {.layout = {.kv_heads = 1024, .head_dim = 1024},
                                    .windows = std::vector<int64_t>(4096, 0),
                                    .context = int64_t{1} << 50};
  EXPECT_FALSE(KvCache::ReservedBytes(options).has_value());
  EXPECT_EQ(KvCache::Make(options, core::RunContext{}).status().code(),
            core::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace rml::llm
