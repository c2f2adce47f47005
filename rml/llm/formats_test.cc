// The same model as a GGUF file and as a Hugging Face folder gives the same logits.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "rml/io/file_writer.h"
#include "rml/llm/decoder_weights.h"
#include "rml/llm/engine.h"
#include "rml/llm/testing/reference_decoder.h"
#include "rml/models/testing/tiny_model.h"

namespace rml::llm {
namespace {

using models::testing::TinyModel;

class Formats : public ::testing::TestWithParam<std::tuple<const char*, bool>> {};

std::vector<float> Logits(const std::shared_ptr<const models::ModelFiles>& files,
                          std::span<const TokenId> tokens, DecoderWeights* weights_out) {
  auto weights = LoadWeights(files);
  EXPECT_TRUE(weights.ok()) << weights.status().message();
  *weights_out = *weights;
  auto engine = Engine::Make(files->spec(), *std::move(weights), nullptr,
                             {.cache_dtype = core::DType::kF32}, {});
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  Session session = (*engine)->NewSession();
  EXPECT_TRUE(session.Append(tokens).ok());
  return {session.logits().begin(), session.logits().end()};
}

TEST_P(Formats, GgufAndHuggingFaceGiveTheSameLogits) {
  const auto [family, bias] = GetParam();
  const TinyModel model(family, std::string_view(family) == "gemma3", bias);
  const std::filesystem::path path = ::testing::TempDir() + "rml_formats_" + family;
  std::filesystem::remove_all(path);
  model.WriteFolder(path / "hf");
  const std::string gguf_path = path / "model.gguf";
  ASSERT_TRUE(io::WriteFile(gguf_path, model.Gguf()).ok());

  const auto gguf = models::ModelFiles::Open(gguf_path);
  const auto folder = models::ModelFiles::Open(path / "hf");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  const std::vector<TokenId> tokens = {5, 1, 44, 7, 7, 23, 0, 47, 12, 13, 30, 31, 2, 9};
  DecoderWeights gguf_weights, folder_weights;
  const std::vector<float> a = Logits(*gguf, tokens, &gguf_weights);
  const std::vector<float> b = Logits(*folder, tokens, &folder_weights);
  const auto exact = testing::ReferenceLogits((*folder)->spec(), folder_weights, tokens).back();
  ASSERT_EQ(a.size(), b.size());
  double spread = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 1e-4) << family << " " << i;
    EXPECT_NEAR(a[i], exact[i], 1e-4) << family << " " << i;
    spread = std::max(spread, std::abs(exact[i]));
  }
  EXPECT_GT(spread, 0.05);  // the model says something that could differ
  std::filesystem::remove_all(path);
}

INSTANTIATE_TEST_SUITE_P(All, Formats,
                         ::testing::Values(std::tuple{"llama", false}, std::tuple{"llama", true},
                                           std::tuple{"qwen2", true}, std::tuple{"qwen3", false},
                                           std::tuple{"gemma3", false}));

}  // namespace
}  // namespace rml::llm
