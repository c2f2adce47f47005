// Ids and decoded texts equal those of the reference tokenizers, on real vocabularies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "rml/text/test_support.h"

namespace rml::text {
namespace {

class HuggingFaceReference : public testing::TestWithParam<const char*> {};

TEST_P(HuggingFaceReference, EveryRowIsEqual) {
  RML_FOLDER_OR_SKIP(data, "RML_DATA_DIR");
  const std::string folder = data + "/tokenizers/hf/" + GetParam();
  const auto tokenizer = Tokenizer::Open(folder);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_EQ(ExpectReferenceRows(**tokenizer, folder + "/reference.jsonl"), 82);
}

INSTANTIATE_TEST_SUITE_P(, HuggingFaceReference,
                         testing::Values("llama3_1", "qwen3", "mistral_nemo", "deepseek_v3",
                                         "mistral_7b_v0_1_spm"),
                         [](const auto& test) { return std::string(test.param); });

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// llama.cpp's vectors: texts separated by a line, ids one text a line.
int ExpectVectors(const Tokenizer& tokenizer, const std::string& stem) {
  const std::string input = ReadAll(stem + ".inp");
  std::istringstream output(ReadAll(stem + ".out"));
  constexpr std::string_view kSeparator = "\n__ggml_vocab_test__\n";
  int count = 0;
  size_t at = 0;
  for (std::string line; std::getline(output, line); ++count) {
    const size_t end = input.find(kSeparator, at);
    if (end == std::string::npos) break;
    const std::string text = input.substr(at, end - at);
    at = end + kSeparator.size();
    std::istringstream numbers(line);
    std::vector<TokenId> expected;
    for (TokenId id; numbers >> id;) expected.push_back(id);
    SCOPED_TRACE(text);
    EXPECT_EQ(*tokenizer.Encode(text, {.add_special = false}), expected);
  }
  return count;
}

struct VectorCase {
  const char* vectors;
  const char* vocabulary;  // below tokenizers/; null: the GGUF of the vectors
};

class LlamaCppVectors : public testing::TestWithParam<VectorCase> {};

TEST_P(LlamaCppVectors, EveryRowIsEqual) {
  RML_FOLDER_OR_SKIP(data, "RML_DATA_DIR");
  const std::string folder = data + "/tokenizers/";
  const std::string stem = folder + "gguf-vocab/ggml-vocab-" + GetParam().vectors + ".gguf";
  const auto tokenizer =
      Tokenizer::Open(GetParam().vocabulary ? folder + GetParam().vocabulary : stem);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_GE(ExpectVectors(**tokenizer, stem), 46);
}

INSTANTIATE_TEST_SUITE_P(
    , LlamaCppVectors,
    testing::Values(VectorCase{"llama-spm", nullptr}, VectorCase{"phi-3", nullptr},
                    VectorCase{"gpt-2", nullptr}, VectorCase{"mpt", nullptr},
                    VectorCase{"starcoder", nullptr}, VectorCase{"refact", nullptr},
                    VectorCase{"falcon", nullptr}, VectorCase{"deepseek-coder", nullptr},
                    VectorCase{"deepseek-llm", nullptr}, VectorCase{"llama-bpe", "hf/llama3_1"},
                    VectorCase{"qwen2", "hf/qwen3"}),
    [](const auto& test) {
      std::string name = test.param.vectors;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(Reference, VocabulariesWithoutVectorsLoad) {
  RML_FOLDER_OR_SKIP(data, "RML_DATA_DIR");
  for (const std::string name : {"baichuan", "gpt-neox"}) {
    const auto tokenizer =
        Tokenizer::Open(data + "/tokenizers/gguf-vocab/ggml-vocab-" + name + ".gguf");
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    const std::string text = "Hello, world! 你好 12345\n\n  x";
    EXPECT_EQ((*tokenizer)->Decode(*(*tokenizer)->Encode(text)).find("Hello"),
              (*tokenizer)->adds_bos() ? (*tokenizer)->bos_text().size() + 1 : 0);
  }
}

TEST(Reference, WordPieceIsRefusedByName) {
  RML_FOLDER_OR_SKIP(data, "RML_DATA_DIR");
  const auto tokenizer = Tokenizer::Open(data + "/tokenizers/gguf-vocab/ggml-vocab-bert-bge.gguf");
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_EQ(tokenizer.status().code(), core::StatusCode::kUnsupported);
  EXPECT_THAT(tokenizer.status().message(), testing::HasSubstr("tokenizer.ggml.model is 'bert'"));
}

TEST(Reference, SmolLm2EqualsLlamaCpp) {
  RML_FOLDER_OR_SKIP(models, "RML_MODEL_DIR");
  const auto tokenizer = Tokenizer::Open(models + "/smollm2-135m.gguf");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_GE(ExpectReferenceRows(**tokenizer, RML_TESTDATA "/golden/tokenizers/smollm2.jsonl"), 80);
  EXPECT_EQ((*tokenizer)->bos_text(), "<|im_start|>");
  EXPECT_EQ((*tokenizer)->eos_text(), "<|im_end|>");
  EXPECT_TRUE((*tokenizer)->IsEndOfGeneration(*(*tokenizer)->Find("<|im_end|>")));
  EXPECT_TRUE((*tokenizer)->IsEndOfGeneration(*(*tokenizer)->Find("<|endoftext|>")));
  EXPECT_FALSE((*tokenizer)->adds_bos());
  EXPECT_THAT((*tokenizer)->chat_template(), testing::HasSubstr("<|im_start|>"));
}

TEST(Reference, Gemma3EqualsLlamaCpp) {
  RML_FOLDER_OR_SKIP(models, "RML_MODEL_DIR");
  const auto tokenizer = Tokenizer::Open(models + "/gemma3-270m.gguf");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_GE(ExpectReferenceRows(**tokenizer, RML_TESTDATA "/golden/tokenizers/gemma3.jsonl"), 80);
  EXPECT_TRUE((*tokenizer)->adds_bos());
  EXPECT_FALSE((*tokenizer)->adds_eos());
  EXPECT_TRUE((*tokenizer)->IsEndOfGeneration(*(*tokenizer)->Find("<end_of_turn>")));
  EXPECT_TRUE((*tokenizer)->IsEndOfGeneration(*(*tokenizer)->eos()));
}

TEST(Reference, Gpt2EqualsHuggingFace) {
  const std::string folder = RML_TESTDATA "/tokenizers/gpt2";
  const auto tokenizer = Tokenizer::Open(folder);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_EQ(ExpectReferenceRows(**tokenizer, folder + "/reference.jsonl"), 382);
}

TEST(Reference, Stories260kEncodesAsItsReferenceDoes) {
  const auto tokenizer = Tokenizer::Open(RML_TESTDATA "/stories260k.gguf");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_EQ((*tokenizer)->vocab_size(), 512);
  const auto ids = *(*tokenizer)->Encode("Once upon a time, there was a little girl named Lily.");
  EXPECT_EQ(ids[0], 1);
  EXPECT_EQ((*tokenizer)->Decode(ids, /*skip_special=*/true),
            "Once upon a time, there was a little girl named Lily.");
}

}  // namespace
}  // namespace rml::text
