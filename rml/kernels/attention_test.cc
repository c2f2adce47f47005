#include "rml/kernels/attention.h"

#include <gmock/gmock.h>

#include <cstring>
#include <memory>

#include "rml/core/half.h"
#include "rml/kernels/float_test_util.h"

namespace rml::kernels {
namespace {

using core::DType;

// A cache of some sequences, each with keys and values at all positions up to its last query. What
// lies behind them is NaN, so that a kernel that reads too far shows.
class Cache {
 public:
  Cache(const KvLayout& layout, std::vector<AttentionSequence> sequences, uint64_t seed = 3)
      : layout_(layout), sequences_(std::move(sequences)) {
    TestRandom random(seed);
    const int64_t width = int64_t{layout.kv_heads} * layout.head_dim;
    for (AttentionSequence& s : sequences_) {
      const int64_t length = s.first_position + s.query_count;
      auto& pages = pages_.emplace_back();
      for (int64_t page = 0; page * kPageTokens < length; ++page) {
        auto& memory = memory_.emplace_back(layout.PageBytes() / 4);
        std::memset(memory.data(), 0xff, layout.PageBytes());
        pages.push_back(memory.data());
      }
      const std::vector<float> k = random.Vector(length * (width + 3), 2.0f);
      const std::vector<float> v = random.Vector(length * (width + 3));
      // In two calls, as a prompt and its continuation.
      const int64_t split = length / 3;
      StoreKv(layout, k.data(), v.data(), width + 3, split, 0, pages.data());
      StoreKv(layout, k.data() + split * (width + 3), v.data() + split * (width + 3), width + 3,
              length - split, split, pages.data());
    }
    for (size_t i = 0; i < sequences_.size(); ++i) sequences_[i].pages = pages_[i].data();
  }

  std::span<const AttentionSequence> sequences() const { return sequences_; }
  std::vector<std::vector<void*>>& pages() { return pages_; }
  int64_t rows() const {
    int64_t rows = 0;
    for (const auto& s : sequences_) rows = std::max(rows, s.query_begin + s.query_count);
    return rows;
  }
  int64_t context() const {
    int64_t context = 0;
    for (const auto& s : sequences_) context = std::max(context, s.first_position + s.query_count);
    return context;
  }

 private:
  KvLayout layout_;
  std::vector<AttentionSequence> sequences_;
  std::vector<std::vector<void*>> pages_;
  std::vector<std::vector<uint32_t>> memory_;
};

std::vector<float> RunAttention(const AttentionParams& params, const Cache& cache,
                                const std::vector<float>& q, int threads) {
  core::ThreadPool pool(threads);
  std::vector<float> out(q.size(), 123.0f);
  std::vector<std::byte> workspace(
      AttentionWorkspaceBytes(params, cache.rows(), cache.context(), threads));
  Attention(params, cache.sequences(), q.data(), out.data(), workspace, pool);
  return out;
}

void ExpectMatchesReference(const AttentionParams& params,
                            std::vector<AttentionSequence> sequences) {
  SCOPED_TRACE(testing::Message() << "head_dim " << params.kv.head_dim << " heads " << params.heads
                                  << "/" << params.kv.kv_heads << " window " << params.window
                                  << " cap " << params.soft_cap << " queries "
                                  << sequences[0].query_count << " from "
                                  << sequences[0].first_position << " " << Name(params.kv.dtype));
  const Cache cache(params.kv, std::move(sequences));
  const std::vector<float> q =
      TestRandom(17).Vector(cache.rows() * params.heads * params.kv.head_dim, 2.0f);
  std::vector<float> expected(q.size(), 123.0f);
  AttentionReference(params, cache.sequences(), q.data(), expected.data());
  const std::vector<float> y = RunAttention(params, cache, q, 1);
  for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 4e-6) << "at " << i;
  for (const int threads : {2, 3}) {
    ASSERT_EQ(BitsOf(RunAttention(params, cache, q, threads)), BitsOf(y)) << threads << " threads";
  }
}

AttentionParams Params(int heads, int kv_heads, int head_dim, DType dtype = DType::kF16) {
  return {.kv = {.dtype = dtype, .kv_heads = kv_heads, .head_dim = head_dim},
          .heads = heads,
          .scale = 1.0f / std::sqrt(static_cast<float>(head_dim))};
}

TEST(Attention, PrefillMatchesTheReferenceForEveryHeadSize) {
  ForEveryIsa([] {
    for (const int head_dim : {1, 3, 8, 16, 20, 64, 80, 96, 128, 256}) {
      for (const DType dtype : {DType::kF16, DType::kF32}) {
        ExpectMatchesReference(Params(6, 2, head_dim, dtype), {{0, 70, 0}});
      }
    }
  });
}

TEST(Attention, PromptLengthsAroundPagesAndTilesMatchTheReference) {
  ForEveryIsa([] {
    for (const int64_t count : {2, 3, 5, 31, 32, 33, 63, 64, 65, 97, 129, 200}) {
      for (const int64_t first : {0, 1, 63, 64, 130}) {
        ExpectMatchesReference(Params(3, 1, 16), {{0, count, first}});
      }
    }
  });
}

TEST(Attention, DecodeMatchesTheReferenceForEveryGroupAndLength) {
  ForEveryIsa([] {
    for (const int group : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16}) {
      for (const int64_t first : {0, 1, 2, 3, 62, 63, 64, 127, 128, 300, 1000}) {
        ExpectMatchesReference(Params(2 * group, 2, 32), {{0, 1, first}});
      }
    }
    for (const int head_dim : {8, 12, 64, 80, 128, 256}) {
      for (const DType dtype : {DType::kF16, DType::kF32}) {
        ExpectMatchesReference(Params(4, 1, head_dim, dtype), {{0, 1, 700}});
      }
    }
  });
}

TEST(Attention, WindowsAndSoftCapsMatchTheReference) {
  ForEveryIsa([] {
    for (const int64_t window : {1, 2, 7, 63, 64, 65, 100, 512}) {
      AttentionParams params = Params(4, 2, 16);
      params.window = window;
      ExpectMatchesReference(params, {{0, 1, 400}});
      ExpectMatchesReference(params, {{0, 150, 0}});
      ExpectMatchesReference(params, {{0, 90, 333}});
      params.soft_cap = 1.5f;
      ExpectMatchesReference(params, {{0, 1, 400}});
      ExpectMatchesReference(params, {{0, 90, 333}});
    }
  });
}

TEST(Attention, ManySequencesInOneCallMatchTheReference) {
  ForEveryIsa([] {
    // Prompts, continuations and decodes in a batch, with rows between them that belong to nobody.
    ExpectMatchesReference(Params(6, 2, 64),
                           {{0, 40, 0}, {41, 1, 500}, {42, 1, 0}, {50, 5, 77}, {55, 100, 128}});
    std::vector<AttentionSequence> decodes;
    for (int64_t i = 0; i < 40; ++i) decodes.push_back({i, 1, i * 17});
    ExpectMatchesReference(Params(4, 2, 32), decodes);
  });
}

TEST(Attention, RowsOfNoSequenceAreLeftAlone) {
  const AttentionParams params = Params(2, 1, 8);
  const Cache cache(params.kv, {{0, 1, 5}, {3, 2, 0}});
  const std::vector<float> q = TestRandom(1).Vector(5 * 16);
  const std::vector<float> y = RunAttention(params, cache, q, 2);
  for (int64_t i = 16; i < 48; ++i) EXPECT_EQ(y[static_cast<size_t>(i)], 123.0f);
}

TEST(Attention, PagesBeforeTheWindowAreNotRead) {
  ForEveryIsa([] {
    AttentionParams params = Params(2, 1, 16);
    params.window = 70;
    for (const int64_t count : {1, 30}) {
      Cache cache(params.kv, {{0, count, 400}});
      const std::vector<float> q = TestRandom(1).Vector(count * 32);
      const std::vector<float> y = RunAttention(params, cache, q, 1);
      for (size_t page = 0; page < 5; ++page) cache.pages()[0][page] = nullptr;  // 331 is in page 5
      EXPECT_EQ(BitsOf(RunAttention(params, cache, q, 1)), BitsOf(y));
    }
  });
}

TEST(Attention, TheOutputMayBeTheQueries) {
  ForEveryIsa([] {
    const AttentionParams params = Params(6, 2, 64);
    for (const AttentionSequence sequence :
         {AttentionSequence{0, 1, 900}, AttentionSequence{0, 130, 5}}) {
      const Cache cache(params.kv, {sequence});
      std::vector<float> q = TestRandom(2).Vector(cache.rows() * 6 * 64);
      const std::vector<float> y = RunAttention(params, cache, q, 2);
      core::ThreadPool pool(2);
      std::vector<std::byte> workspace(
          AttentionWorkspaceBytes(params, cache.rows(), cache.context(), 2));
      Attention(params, cache.sequences(), q.data(), q.data(), workspace, pool);
      EXPECT_EQ(BitsOf(q), BitsOf(y));
    }
  });
}

TEST(Attention, OneKeyGivesItsValueWhateverTheScore) {
  ForEveryIsa([] {
    AttentionParams params = Params(1, 1, 8, DType::kF32);
    params.scale = 1e6f;
    const Cache cache(params.kv, {{0, 1, 0}});
    const std::vector<float> y = RunAttention(params, cache, std::vector<float>(8, 100.0f), 1);
    const auto* v = static_cast<const float*>(cache.sequences()[0].pages[0]) + 64 * 8;
    for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(y[static_cast<size_t>(i)], v[i]);
  });
}

TEST(Attention, EqualScoresGiveTheMeanOfTheValues) {
  ForEveryIsa([] {
    const AttentionParams params = Params(2, 1, 64, DType::kF32);
    const Cache cache(params.kv, {{0, 1, 2000}});
    const std::vector<float> y = RunAttention(params, cache, std::vector<float>(128, 0.0f), 2);
    for (int64_t e = 0; e < 64; ++e) {
      double mean = 0;
      for (int64_t j = 0; j <= 2000; ++j) {
        mean += static_cast<const float*>(
            cache.sequences()[0].pages[j / 64])[64 * 64 + j % 64 * 64 + e];
      }
      EXPECT_NEAR(y[static_cast<size_t>(e)], mean / 2001.0, 1e-6);
      EXPECT_EQ(y[static_cast<size_t>(e)], y[static_cast<size_t>(64 + e)]);
    }
  });
}

TEST(StoreKv, LaysOutKeysThenValuesByHead) {
  ForEveryIsa([] {
    const KvLayout layout = {.dtype = DType::kF16, .kv_heads = 2, .head_dim = 3};
    EXPECT_EQ(layout.PageBytes(), 2u * 2 * 64 * 3 * 2);
    std::vector<uint16_t> first(layout.PageBytes() / 2), second(layout.PageBytes() / 2);
    void* pages[] = {first.data(), second.data()};
    const float k[] = {1, 2, 3, 4, 5, 6, -1, 7, 8, 9, 10, 11, 12, -1};
    const float v[] = {101, 102, 103, 104, 105, 106, -1, 107, 108, 109, 110, 111, 112, -1};
    StoreKv(layout, k, v, 7, 2, 63, pages);
    const auto at = [](const std::vector<uint16_t>& page, size_t i) {
      return core::F16ToF32(page[i]);
    };
    EXPECT_EQ(at(first, 63 * 3), 1.0f);             // head 0, slot 63
    EXPECT_EQ(at(first, (64 + 63) * 3 + 2), 6.0f);  // head 1
    EXPECT_EQ(at(first, (128 + 63) * 3), 101.0f);   // values
    EXPECT_EQ(at(second, 0), 7.0f);
    EXPECT_EQ(at(second, 3 * 64 * 3 + 2), 112.0f);
    EXPECT_EQ(at(first, 0), 0.0f);
  });
}

TEST(Attention, TheWorkspaceOfAWholeBatchServesEveryPartOfIt) {
  const AttentionParams params = Params(9, 3, 64);
  const size_t whole = AttentionWorkspaceBytes(params, 512, 8192, 2);
  for (const int64_t queries : {1, 5, 31, 32, 33, 100, 511}) {
    EXPECT_LE(AttentionWorkspaceBytes(params, queries, 8000, 2), whole);
    EXPECT_LE(AttentionWorkspaceBytes(params, queries, 100, 1), whole);
  }
  EXPECT_LT(whole, size_t{8} << 20);
}

}  // namespace
}  // namespace rml::kernels
