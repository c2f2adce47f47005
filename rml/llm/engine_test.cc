#include "rml/llm/engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "rml/core/thread_pool.h"
#include "rml/llm/decoder_weights.h"
#include "rml/llm/testing/reference_decoder.h"

namespace rml::llm {
namespace {

using models::DecoderSpec;

// Small sizes, each different, so that a mix-up of two of them cannot go unseen.
DecoderSpec SmallSpec() {
  DecoderSpec spec;
  spec.family = "llama";
  spec.vocab = 97;
  spec.d_model = 64;
  spec.d_ff = 96;
  spec.context_length = 300;
  spec.heads = 6;
  spec.kv_heads = 2;
  spec.head_dim = 16;
  spec.attention_scale = 0.25f;
  spec.ropes = {{.base = 10000.0, .dim = 16}};
  spec.layers.resize(3);
  return spec;
}

DecoderSpec QwenLike() {
  DecoderSpec spec = SmallSpec();
  spec.qkv_bias = true;
  spec.qk_norm = true;
  spec.tied_embeddings = true;
  return spec;
}

DecoderSpec GemmaLike() {
  DecoderSpec spec = SmallSpec();
  spec.activation = models::Activation::kGeluTanh;
  spec.qk_norm = true;
  spec.post_norms = true;
  spec.tied_embeddings = true;
  spec.embedding_scale = 8.0f;
  spec.logit_soft_cap = 3.0f;
  spec.attention_soft_cap = 2.0f;
  spec.ropes.push_back({.base = 100.0, .dim = 16});
  spec.layers[0] = {.window = 5, .rope = 1};
  spec.layers[1] = {.window = 70, .rope = 1};
  return spec;
}

DecoderSpec PartialAdjacentRope() {
  DecoderSpec spec = SmallSpec();
  spec.ropes[0].dim = 8;
  spec.ropes[0].layout = kernels::RopeLayout::kAdjacent;
  return spec;
}

struct Made {
  DecoderSpec spec;
  DecoderWeights weights;  // the same ones as the engine's, for the reference
  std::shared_ptr<Engine> engine;
};

Made Make(const DecoderSpec& spec, const EngineOptions& options, const core::RunContext& context,
          std::string_view mix = "f32") {
  const auto weight_mix = FindWeightMix(mix);
  EXPECT_TRUE(weight_mix.ok());
  auto weights = RandomWeights(spec, *weight_mix, 3, context);
  EXPECT_TRUE(weights.ok()) << weights.status().message();
  auto engine = Engine::Make(spec, *weights, nullptr, options, context);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  return {spec, *weights, *engine};
}

std::vector<TokenId> Tokens(int64_t count, int64_t seed = 1) {
  std::vector<TokenId> tokens;
  for (int64_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<TokenId>((i * i * 31 + i * 7 + seed * 13) % 97));
  return tokens;
}

double LargestDifference(std::span<const float> a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

void ExpectEqualsReference(const DecoderSpec& spec, core::DType cache, double tolerance) {
  core::ThreadPool pool(2);
  const Made made =
      Make(spec, {.max_sequences = 2, .batch_tokens = 50, .cache_dtype = cache}, {.pool = &pool});
  const std::vector<TokenId> tokens = Tokens(150);
  const auto expected = testing::ReferenceLogits(spec, made.weights, tokens);

  // All at once, in passes of 50 …
  Session session = made.engine->NewSession();
  int64_t seen = 0;
  ASSERT_TRUE(session
                  .Append(tokens,
                          [&](int64_t position, std::span<const float> logits) {
                            EXPECT_EQ(position, seen++);
                            EXPECT_LT(
                                LargestDifference(logits, expected[static_cast<size_t>(position)]),
                                tolerance)
                                << "position " << position;
                          })
                  .ok());
  EXPECT_EQ(seen, 150);
  // … and as a prompt with single steps behind it.
  Session steps = made.engine->NewSession();
  ASSERT_TRUE(steps.Append(std::span(tokens).first(140)).ok());
  for (size_t i = 140; i < tokens.size(); ++i) {
    EXPECT_LT(LargestDifference(steps.logits(), expected[i - 1]), tolerance);
    ASSERT_TRUE(steps.Append({&tokens[i], 1}).ok());
  }
  EXPECT_LT(LargestDifference(steps.logits(), expected.back()), tolerance);
}

TEST(Engine, EqualsTheReferenceForALlama) {
  ExpectEqualsReference(SmallSpec(), core::DType::kF32, 2e-5);
}
TEST(Engine, EqualsTheReferenceWithBiasAndHeadNorms) {
  ExpectEqualsReference(QwenLike(), core::DType::kF32, 2e-5);
}
TEST(Engine, EqualsTheReferenceWithWindowsCapsAndPostNorms) {
  ExpectEqualsReference(GemmaLike(), core::DType::kF32, 2e-4);
}
TEST(Engine, EqualsTheReferenceWithPartialAdjacentRope) {
  ExpectEqualsReference(PartialAdjacentRope(), core::DType::kF32, 2e-5);
}
TEST(Engine, AnF16CacheStaysNearTheReference) {
  ExpectEqualsReference(SmallSpec(), core::DType::kF16, 2e-3);
}

TEST(Engine, RaggedBatchesGiveWhatSingleSequencesGive) {
  const Made made = Make(GemmaLike(), {.max_sequences = 6, .batch_tokens = 40}, {});
  const std::vector<TokenId> a = Tokens(70, 1), b = Tokens(3, 2), c = Tokens(90, 3);
  Session a1 = made.engine->NewSession(), b1 = made.engine->NewSession(),
          c1 = made.engine->NewSession();
  ASSERT_TRUE(a1.Append(a).ok());
  ASSERT_TRUE(b1.Append(b).ok());
  ASSERT_TRUE(c1.Append(c).ok());
  Session a2 = made.engine->NewSession(), b2 = made.engine->NewSession(),
          c2 = made.engine->NewSession();
  const SessionTokens batch[] = {{&a2, a}, {&b2, b}, {&c2, c}};
  ASSERT_TRUE(made.engine->Append(batch).ok());
  for (const auto& [one, many] : {std::pair{&a1, &a2}, {&b1, &b2}, {&c1, &c2}}) {
    ASSERT_EQ(one->length(), many->length());
    for (size_t i = 0; i < one->logits().size(); ++i)
      EXPECT_NEAR(one->logits()[i], many->logits()[i], 1e-3);
  }
}

TEST(Engine, AnyNumberOfThreadsGivesTheSameBits) {
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 3}) {
    core::ThreadPool pool(threads);
    const Made made = Make(QwenLike(), {}, {.pool = &pool});
    Session session = made.engine->NewSession();
    ASSERT_TRUE(session.Append(Tokens(130)).ok());
    const TokenId next = 5;
    ASSERT_TRUE(session.Append({&next, 1}).ok());
    results.emplace_back(session.logits().begin(), session.logits().end());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Engine, AForkGoesItsOwnWayFromASharedBeginning) {
  const Made made = Make(SmallSpec(), {.max_sequences = 3}, {});
  const std::vector<TokenId> prefix = Tokens(75);
  const std::vector<TokenId> left = {1, 2, 3}, right = {4, 5};
  Session session = made.engine->NewSession();
  ASSERT_TRUE(session.Append(prefix).ok());
  Session fork = session.Fork();
  EXPECT_EQ(std::vector<float>(fork.logits().begin(), fork.logits().end()),
            std::vector<float>(session.logits().begin(), session.logits().end()));
  ASSERT_TRUE(session.Append(left).ok());
  ASSERT_TRUE(fork.Append(right).ok());

  Session fresh = made.engine->NewSession();
  ASSERT_TRUE(fresh.Append(prefix).ok());
  ASSERT_TRUE(fresh.Append(right).ok());
  EXPECT_EQ(std::vector<float>(fork.logits().begin(), fork.logits().end()),
            std::vector<float>(fresh.logits().begin(), fresh.logits().end()));
}

TEST(Engine, BecomeKeepsTheCommonBeginning) {
  const Made made = Make(SmallSpec(), {.max_sequences = 2}, {});
  Session session = made.engine->NewSession();
  std::vector<TokenId> tokens = Tokens(80);
  EXPECT_EQ(*session.Become(tokens), 0);
  EXPECT_EQ(*session.Become(tokens), 80);  // nothing to do
  tokens[60] = 96;
  EXPECT_EQ(*session.Become(tokens), 60);
  Session fresh = made.engine->NewSession();
  ASSERT_TRUE(fresh.Append(tokens).ok());
  for (size_t i = 0; i < fresh.logits().size(); ++i)
    EXPECT_NEAR(session.logits()[i], fresh.logits()[i], 1e-3);

  session.Truncate(80);
  EXPECT_EQ(*session.Become(std::span(tokens).first(50)),
            49);  // the last one again, for its logits
  EXPECT_EQ(session.length(), 50);
}

TEST(Engine, ASequenceCannotOutgrowTheContext) {
  const Made made = Make(SmallSpec(), {.context_length = 20}, {});
  Session session = made.engine->NewSession();
  ASSERT_TRUE(session.Append(Tokens(18)).ok());
  const core::Status status = session.Append(Tokens(3));
  EXPECT_EQ(status.code(), core::StatusCode::kOutOfRange);
  EXPECT_NE(status.message().find("21 tokens"), std::string::npos) << status.message();
  EXPECT_EQ(session.length(), 18);
  EXPECT_TRUE(session.Append(Tokens(2)).ok());
}

TEST(Engine, AContextLongerThanTheModelsIsAnError) {
  const auto engine =
      Engine::Make(SmallSpec(), DecoderWeights{}, nullptr, {.context_length = 301}, {});
  EXPECT_EQ(engine.status().code(), core::StatusCode::kOutOfRange);
  EXPECT_NE(engine.status().message().find("300"), std::string::npos);
}

TEST(Engine, ATokenOutsideTheVocabularyIsAnError) {
  const Made made = Make(SmallSpec(), {}, {});
  Session session = made.engine->NewSession();
  for (const TokenId bad : {-1, 97}) {
    const core::Status status = session.Append({&bad, 1});
    EXPECT_EQ(status.code(), core::StatusCode::kOutOfRange) << status.message();
  }
  EXPECT_EQ(session.length(), 0);
}

TEST(Engine, CancellationStopsAndKeepsTheSequenceWhole) {
  const Made made = Make(SmallSpec(), {.batch_tokens = 16}, {});
  Session session = made.engine->NewSession();
  ASSERT_TRUE(session.Append(Tokens(10)).ok());
  core::CancellationSource source;
  made.engine->SetCancellation(source.token());
  source.Cancel();
  EXPECT_EQ(session.Append(Tokens(5)).code(), core::StatusCode::kCancelled);
  EXPECT_EQ(session.length(), 10);
  made.engine->SetCancellation({});
  EXPECT_TRUE(session.Append(Tokens(5)).ok());
}

TEST(Engine, AMemoryBudgetThatIsTooSmallIsAnError) {
  core::MemoryBudget budget(1 << 10);
  core::BudgetedAllocator allocator(core::Cpu(), budget, "the engine");
  const auto engine =
      Engine::Make(SmallSpec(), DecoderWeights{}, nullptr, {}, {.allocator = &allocator});
  EXPECT_EQ(engine.status().code(), core::StatusCode::kResourceExhausted);
}

TEST(Engine, TheEstimateIsWhatAnEngineUses) {
  const Made made = Make(SmallSpec(), {.context_length = 200}, {});
  const auto estimate =
      EstimateMemory(made.spec, made.weights.matrix_bytes, {.context_length = 200}, 1);
  ASSERT_TRUE(estimate.ok());
  EXPECT_EQ(estimate->total(), made.engine->memory().total());
  // 4 pages of 64 tokens, 3 layers, 2 heads of 16 f16 numbers, keys and values.
  EXPECT_EQ(estimate->cache, 4 * 64 * 3 * 2 * 16 * 2 * 2);
}

TEST(Engine, AWindowedCacheGivesTheSameLogitsFarBeyondItsWindows) {
  DecoderSpec spec = GemmaLike();
  spec.context_length = 1200;
  const Made made = Make(
      spec, {.context_length = 1200, .batch_tokens = 64, .cache_dtype = core::DType::kF32}, {});
  const std::vector<TokenId> tokens = Tokens(1100);
  Session session = made.engine->NewSession();
  ASSERT_TRUE(session.Append(tokens).ok());
  const auto expected = testing::ReferenceLogits(spec, made.weights, tokens).back();
  EXPECT_LT(LargestDifference(session.logits(), expected), 5e-4);
  EXPECT_EQ(session.Truncate(1000), 1000);  // within reach
  EXPECT_EQ(*session.Become(tokens), 1000);
  EXPECT_LT(LargestDifference(session.logits(), expected), 5e-4);
  EXPECT_EQ(session.Fork(300).length(), 0);  // too far back: layers with windows have forgotten
  EXPECT_EQ(session.Truncate(300), 0);
  EXPECT_EQ(*session.Become(tokens), 0);
  EXPECT_LT(LargestDifference(session.logits(), expected), 5e-4);
}

class EngineWeightTypes : public ::testing::TestWithParam<const char*> {};

// Against quantised weights activations are rounded to 8 bits, so the tolerance is theirs.
TEST_P(EngineWeightTypes, StaysNearTheReference) {
  DecoderSpec spec = SmallSpec();
  spec.d_model = 256;
  spec.d_ff = 512;
  const Made made = Make(spec, {}, {}, GetParam());
  const std::vector<TokenId> tokens = Tokens(20);
  const auto expected = testing::ReferenceLogits(spec, made.weights, tokens);
  Session session = made.engine->NewSession();
  double error = 0, size = 0;
  ASSERT_TRUE(session
                  .Append(tokens,
                          [&](int64_t position, std::span<const float> logits) {
                            for (size_t i = 0; i < logits.size(); ++i) {
                              const double wanted = expected[static_cast<size_t>(position)][i];
                              error += (logits[i] - wanted) * (logits[i] - wanted);
                              size += wanted * wanted;
                            }
                          })
                  .ok());
  EXPECT_LT(std::sqrt(error / size), 0.03) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(All, EngineWeightTypes,
                         ::testing::Values("f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0",
                                           "q4_k_m", "q5_k_m", "q6_k"));

}  // namespace
}  // namespace rml::llm
