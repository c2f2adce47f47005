// The hand-fused decoder against what it means: the operators that models::BuildDecoder makes of
// the same spec, traced and eager, and with a cache.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "rml/core/error.h"
#include "rml/graph/program.h"
#include "rml/ir/verify.h"
#include "rml/llm/decoder_weights.h"
#include "rml/llm/engine.h"
#include "rml/models/decoder_graph.h"
#include "rml/models/testing/tiny_model.h"
#include "rml/ops/eager.h"
#include "rml/providers/all/all_providers.h"

namespace rml::llm {
namespace {

using core::DType;
using core::Tensor;

// [tokens · vocab], from the runtime.
std::vector<float> FusedLogits(const std::shared_ptr<const models::ModelFiles>& files,
                               std::span<const TokenId> tokens) {
  auto weights = LoadWeights(files);
  EXPECT_TRUE(weights.ok()) << weights.status().message();
  auto engine =
      Engine::Make(files->spec(), *std::move(weights), nullptr, {.cache_dtype = DType::kF32}, {});
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  Session session = (*engine)->NewSession();
  std::vector<float> all;
  EXPECT_TRUE(session
                  .Append(tokens,
                          [&](int64_t, std::span<const float> logits) {
                            all.insert(all.end(), logits.begin(), logits.end());
                          })
                  .ok());
  return all;
}

// A tensor of the file as the model multiplies by it.
Tensor ParameterOf(const models::ModelTensor& stored) {
  auto tensor = Tensor::FromBytes(stored.dtype, stored.shape, stored.data, core::Cpu());
  EXPECT_TRUE(tensor.ok()) << tensor.status().message();
  EXPECT_EQ(stored.pending, models::Transform::kNone);  // a GGUF file has it applied
  return *tensor;
}

Tensor TokenTensor(std::span<const TokenId> tokens) {
  const std::vector<int64_t> ids(tokens.begin(), tokens.end());
  return *Tensor::FromHost<int64_t>({1, static_cast<int64_t>(ids.size())}, ids, core::Cpu());
}

// By the graph traced from the spec, run by the plain executor.
std::vector<float> GraphLogits(const models::ModelFiles& files, std::span<const TokenId> tokens) {
  auto graph = models::TraceDecoder(
      files.spec(),
      [&](const models::TensorSpec& tensor) -> std::optional<DType> {
        const models::ModelTensor* const stored = files.Find(tensor.name);
        if (stored == nullptr) return std::nullopt;
        return stored->dtype;
      },
      ops::BuiltinOps());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(ir::Verify(*graph).ok());
  const Tensor input = TokenTensor(tokens);
  const ir::Type type = {input.dtype(), ir::Dims(input.shape())};
  const auto fitted = graph::Specialize(*graph, {&type, 1}, ops::BuiltinOps());
  EXPECT_TRUE(fitted.ok()) << fitted.status().message();
  core::RunContext context;
  const auto program = graph::Program::Prepare(*fitted, providers::AllProviders(), context);
  EXPECT_TRUE(program.ok()) << program.status().message();
  std::vector<Tensor> parameters;
  for (const ir::ValueId id : fitted->parameters())
    parameters.push_back(ParameterOf(*files.Find(fitted->NameOf(id))));
  const auto results = (*program)->Run({.inputs = {&input, 1}, .parameters = parameters});
  EXPECT_TRUE(results.ok()) << results.status().message();
  const auto logits = results->outputs[0].HostData<float>();
  return {logits->begin(), logits->end()};
}

// Eagerly, some tokens at a time through a cache.
std::vector<float> CachedLogits(const models::ModelFiles& files, std::span<const TokenId> tokens,
                                std::initializer_list<size_t> pieces) {
  const models::DecoderSpec& spec = files.spec();
  const core::RunContext run;
  ops::EagerBuilder builder(run, providers::AllProviders(), ops::BuiltinOps());
  models::DecoderContext context;
  const core::Shape shape = {1, spec.kv_heads, static_cast<int64_t>(tokens.size()) + 3,
                             spec.head_dim};
  const auto empty = [&] { return ir::Value(*Tensor::Zeros(DType::kF32, shape, core::Cpu())); };
  for (size_t i = 0; i < spec.layers.size(); ++i) context.caches.push_back({empty(), empty()});
  const models::DecoderParameters find = [&](const std::string& name) {
    const models::ModelTensor* const stored = files.Find(name);
    return stored == nullptr ? ir::Value() : ir::Value(ParameterOf(*stored));
  };
  std::vector<float> all;
  int64_t start = 0;
  for (const size_t count : pieces) {
    const std::vector<int64_t> starts = {start};
    context.start = ir::Value(*Tensor::FromHost<int64_t>({1}, starts, core::Cpu()));
    const ir::Value input(TokenTensor(tokens.subspan(static_cast<size_t>(start), count)));
    models::DecoderStep step = models::BuildDecoder(builder, spec, find, input, &context);
    context.caches = std::move(step.caches);
    const auto logits = step.logits.tensor().HostData<float>();
    all.insert(all.end(), logits->begin(), logits->end());
    start += static_cast<int64_t>(count);
  }
  return all;
}

void ExpectNear(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-4) << i;
}

// The model in every way; the runtime's logits.
std::vector<float> ExpectSameLogits(const std::vector<std::byte>& image) {
  auto gguf = io::GgufFile::Parse(image, "tiny");
  EXPECT_TRUE(gguf.ok()) << gguf.status().message();
  const auto files = models::ModelFiles::FromGguf(*std::move(gguf));
  EXPECT_TRUE(files.ok()) << files.status().message();
  const std::vector<TokenId> tokens = {5, 1, 44, 7, 7, 23, 0, 47, 12, 13, 30, 31, 2, 9};
  std::vector<float> fused = FusedLogits(*files, tokens);
  ExpectNear(GraphLogits(**files, tokens), fused);
  ExpectNear(CachedLogits(**files, tokens, {14}), fused);
  ExpectNear(CachedLogits(**files, tokens, {9, 1, 4}), fused);
  return fused;
}

double LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
  return largest;
}

class DecoderGraph : public ::testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(DecoderGraph, GivesTheFusedDecodersLogits) {
  const auto [family, bias] = GetParam();
  const models::testing::TinyModel model(family, std::string_view(family) == "gemma3", bias);
  const std::vector<float> fused = ExpectSameLogits(model.Gguf());
  // The model says something that could differ.
  EXPECT_GT(LargestDifference(fused, std::vector<float>(fused.size())), 0.05);
}

TEST(DecoderGraphRope, TakesTheFrequencyFactorsOfTheFile) {
  models::testing::TinyModel model("llama");
  const std::vector<float> plain = ExpectSameLogits(model.Gguf());
  model.rope_frequency_factors = {1, 1, 1.5, 3, 6, 8};
  EXPECT_GT(LargestDifference(ExpectSameLogits(model.Gguf()), plain), 0.001);
}

INSTANTIATE_TEST_SUITE_P(All, DecoderGraph,
                         ::testing::Values(std::tuple{"llama", false}, std::tuple{"llama", true},
                                           std::tuple{"qwen2", true}, std::tuple{"qwen3", false},
                                           std::tuple{"gemma3", false}));

// Quantised weights: the runtime rounds activations to 8 bits, so its logits differ by a part of
// their spread; what they say must not.
TEST(DecoderGraphModel, SmolLm2SaysTheSame) {
  const char* const folder = std::getenv("RML_MODEL_DIR");
  if (folder == nullptr) GTEST_SKIP() << "RML_MODEL_DIR is not set";
  const auto files =
      models::ModelFiles::Open((std::filesystem::path(folder) / "smollm2-135m.gguf").string());
  ASSERT_TRUE(files.ok()) << files.status().message();
  const std::vector<TokenId> tokens = {504, 3575, 282, 4649, 314};  // "The capital of France is"
  const std::vector<float> fused = FusedLogits(*files, tokens);
  const std::vector<float> exact = GraphLogits(**files, tokens);
  ASSERT_EQ(fused.size(), exact.size());
  double error = 0, size = 0, mean = 0;
  for (const float logit : exact)
    mean += static_cast<double>(logit) / static_cast<double>(exact.size());
  for (size_t i = 0; i < exact.size(); ++i) {
    error += std::pow(static_cast<double>(fused[i]) - static_cast<double>(exact[i]), 2);
    size += std::pow(static_cast<double>(exact[i]) - mean, 2);
  }
  EXPECT_LT(std::sqrt(error / size), 0.1);
  const auto best = [&](const std::vector<float>& logits) {
    const auto last = logits.end() - static_cast<int64_t>(logits.size() / tokens.size());
    return std::max_element(last, logits.end()) - last;
  };
  EXPECT_EQ(best(fused), best(exact));
}

}  // namespace
}  // namespace rml::llm
