// tokenizer.json: what its parts do, and the errors that name the path of what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "rml/text/test_support.h"

namespace rml::text {
namespace {

using io::Json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr EncodeOptions kNoSpecial = {.add_special = false};

Json Parse(std::string_view text) {
  auto json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << json.status().message();
  return json.ok() ? *std::move(json) : Json();
}

// A SentencePiece-like vocabulary over a few characters.
Json Base() {
  return Parse(R"({
    "version": "1.0", "truncation": null, "padding": null,
    "added_tokens": [
      {"id": 0, "content": "<unk>", "special": true, "normalized": false},
      {"id": 1, "content": "<s>", "special": true, "normalized": false},
      {"id": 12, "content": "Tool", "special": false, "normalized": true, "lstrip": false}],
    "normalizer": {"type": "Sequence", "normalizers": [
      {"type": "Prepend", "prepend": "▁"},
      {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
    "pre_tokenizer": null,
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
    "decoder": {"type": "Sequence", "decoders": [
      {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
      {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true,
      "vocab": {"<unk>": 0, "<s>": 1, "▁": 2, "a": 3, "b": 4, "ab": 5, "▁ab": 6, "<0xC3>": 7,
                "<0xA9>": 8, "▁a": 9},
      "merges": ["a b", "▁ ab", "▁ a"]}})");
}

std::shared_ptr<const Tokenizer> Load(const Json& json, std::string_view config = "") {
  auto tokenizer = Tokenizer::FromJson(json.Dump(), config);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return tokenizer.ok() ? *tokenizer : nullptr;
}

std::string LoadError(const Json& json, std::string_view config = "") {
  const auto tokenizer = Tokenizer::FromJson(json.Dump(), config);
  return tokenizer.ok() ? "loaded" : std::string(tokenizer.status().message());
}

// The document with the member at `key` of the object `parent` (null: the root) replaced.
Json With(Json document, const char* parent, const char* key, std::string_view value) {
  if (parent == nullptr) return document.Set(key, Parse(value));
  Json inner = *document.Find(parent);
  inner.Set(key, Parse(value));
  return document.Set(parent, inner);
}

TEST(JsonTokenizer, EncodesAndDecodes) {
  const auto tokenizer = Load(Base());
  EXPECT_THAT(*tokenizer->Encode("ab a"), ElementsAre(1, 6, 9));
  EXPECT_EQ(tokenizer->Decode(std::vector<TokenId>{1, 6, 9}, true), "ab a");
  EXPECT_EQ(tokenizer->vocab_size(), 13);
  EXPECT_EQ(tokenizer->Piece(10), "");  // an id that the file leaves out
  EXPECT_EQ(tokenizer->unk(), 0);
  EXPECT_EQ(tokenizer->bos(), 1);
}

TEST(JsonTokenizer, UnknownCharactersFuseAndBytesDoNot) {
  const auto tokenizer = Load(Base());
  EXPECT_THAT(*tokenizer->Encode("é", kNoSpecial), ElementsAre(2, 7, 8));
  EXPECT_THAT(*tokenizer->Encode("xyz xb", kNoSpecial), ElementsAre(2, 0, 2, 0, 4));
  EXPECT_THAT(*Load(With(Base(), "model", "fuse_unk", "false"))->Encode("xyz", kNoSpecial),
              ElementsAre(2, 0, 0, 0));
  EXPECT_THAT(*Load(With(Base(), "model", "unk_token", "null"))->Encode("axb", kNoSpecial),
              ElementsAre(6))
      << "without an unknown token the character vanishes";
  EXPECT_EQ(tokenizer->Decode(std::vector<TokenId>{2, 7, 8}), "é");
}

TEST(JsonTokenizer, NormalizedTokensAreFoundInTheNormalizedText) {
  // Its own content is normalised too, so it is found behind a prepended mark only.
  const auto tokenizer = Load(Base());
  EXPECT_THAT(*tokenizer->Encode("Tool a", kNoSpecial), ElementsAre(12, 9));
  EXPECT_THAT(*tokenizer->Encode("aTool", kNoSpecial), ElementsAre(9, 0));
}

TEST(JsonTokenizer, MergesMayBePairs) {
  const Json pairs = With(Base(), "model", "merges", R"([["a", "b"], ["▁", "ab"], ["▁", "a"]])");
  EXPECT_THAT(*Load(pairs)->Encode("ab a"), ElementsAre(1, 6, 9));
}

TEST(JsonTokenizer, TheConfigurationNamesSpecialTokens) {
  const auto tokenizer = Load(Base(), R"({"bos_token": {"content": "<s>"}, "eos_token": "<unk>",
      "pad_token": null, "chat_template": [{"name": "tool_use", "template": "x"},
                                           {"name": "default", "template": "y"}]})");
  EXPECT_EQ(tokenizer->bos(), 1);
  EXPECT_EQ(tokenizer->eos_text(), "<unk>");
  EXPECT_TRUE(tokenizer->IsEndOfGeneration(0));
  EXPECT_EQ(tokenizer->pad(), std::nullopt);
  EXPECT_EQ(tokenizer->chat_template(), "y");
}

TEST(JsonTokenizer, WhatIsNotSupportedIsNamedByItsPath) {
  const auto sequence = [](const char* list, const char* type) {
    return core::StrCat(R"({"type": "Sequence", ")", list, R"(": [{"type": ")", type, R"("}]})");
  };
  EXPECT_THAT(LoadError(With(Base(), nullptr, "normalizer", sequence("normalizers", "Nmt"))),
              HasSubstr("tokenizer.json: normalizer.normalizers[0].type is 'Nmt'"));
  EXPECT_THAT(LoadError(With(Base(), nullptr, "pre_tokenizer", sequence("pretokenizers", "Bert"))),
              HasSubstr("pre_tokenizer.pretokenizers[0].type is 'Bert'"));
  EXPECT_THAT(LoadError(With(Base(), nullptr, "post_processor", sequence("processors", "New"))),
              HasSubstr("post_processor.processors[0].type is 'New'"));
  EXPECT_THAT(LoadError(With(Base(), nullptr, "decoder", sequence("decoders", "CTC"))),
              HasSubstr("decoder.decoders[0].type is 'CTC'"));
  EXPECT_THAT(LoadError(With(Base(), "model", "type", R"("Unigram")")),
              HasSubstr("model.type is 'Unigram'"));
  EXPECT_THAT(LoadError(With(Base(), "model", "dropout", "0.1")), HasSubstr("model.dropout"));
  EXPECT_THAT(LoadError(With(Base(), "model", "end_of_word_suffix", R"("</w>")")),
              HasSubstr("model.end_of_word_suffix is '</w>'"));
  EXPECT_THAT(
      LoadError(With(Base(), nullptr, "pre_tokenizer",
                     R"({"type": "Split", "pattern": {"Regex": "(a"}, "behavior": "Isolated"})")),
      HasSubstr("pre_tokenizer.pattern: the pattern '(a' cannot be compiled"));
}

TEST(JsonTokenizer, WhatIsMalformedIsNamedByItsPath) {
  EXPECT_THAT(LoadError(With(Base(), "model", "vocab", R"({"a": 0, "b": 0})")),
              HasSubstr("model.vocab gives the id 0 to 'b'"));
  EXPECT_THAT(LoadError(With(Base(), "model", "vocab", R"({"a": -1})")), HasSubstr("the id -1"));
  EXPECT_THAT(LoadError(With(Base(), "model", "vocab", R"({"a": 999999999999})")),
              HasSubstr("the id 999999999999"));
  EXPECT_THAT(LoadError(With(Base(), "model", "vocab", R"({"a": "x"})")), HasSubstr("no integer"));
  EXPECT_THAT(LoadError(With(Base(), "model", "merges", R"(["a b", "a zz"])")),
              HasSubstr("model.merges[1] needs the token 'zz'"));
  EXPECT_THAT(LoadError(With(Base(), "model", "merges", R"(["a b c"])")),
              HasSubstr("model.merges[0] is neither"));
  EXPECT_THAT(LoadError(With(Base(), "model", "merges", R"([["a"]])")),
              HasSubstr("model.merges[0] is neither"));
  EXPECT_THAT(LoadError(With(Base(), "model", "unk_token", R"("nope")")),
              HasSubstr("model.unk_token is 'nope'"));
  EXPECT_THAT(
      LoadError(With(Base(), nullptr, "added_tokens", R"([{"id": 3, "content": "other"}])")),
      HasSubstr("added_tokens[0] gives the id 3 to 'other'"));
  EXPECT_THAT(LoadError(With(Base(), nullptr, "added_tokens", R"([{"id": 50, "content": "a"}])")),
              HasSubstr("are both 'a'"));
  EXPECT_THAT(LoadError(With(Base(), nullptr, "post_processor", R"({"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}],
      "special_tokens": {"<s>": {"ids": [77]}}})")),
              HasSubstr("post_processor.special_tokens.<s>.ids[0] names the token 77"));
  EXPECT_THAT(LoadError(Parse("[]")), HasSubstr("no object"));
  const auto cut = Tokenizer::FromJson("{\"model\": ", "");
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(std::string(cut.status().message()), HasSubstr("tokenizer.json"));
}

TEST(JsonTokenizer, NestingHasALimit) {
  std::string deep = "{\"type\": \"NFC\"}";
  for (int i = 0; i < 40; ++i) deep = "{\"type\": \"Sequence\", \"normalizers\": [" + deep + "]}";
  EXPECT_THAT(LoadError(With(Base(), nullptr, "normalizer", deep)), HasSubstr("nested too deeply"));
}

TEST(TokenizerFiles, OpenReadsFoldersGzipAndTheConfigurationBeside) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "rml_tokenizer_files_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  EXPECT_THAT(std::string(Tokenizer::Open(folder.string()).status().message()),
              HasSubstr("holds neither tokenizer.json nor tokenizer.json.gz"));
  const std::string text = Base().Dump();
  gzFile file = gzopen((folder / "tokenizer.json.gz").c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  std::ofstream(folder / "tokenizer_config.json") << R"({"eos_token": "<s>"})";
  for (const fs::path& path : {folder, folder / "tokenizer.json.gz"}) {
    const auto tokenizer = Tokenizer::Open(path.string());
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    EXPECT_EQ((*tokenizer)->eos_text(), "<s>");
  }
  fs::resize_file(folder / "tokenizer.json.gz", fs::file_size(folder / "tokenizer.json.gz") / 2);
  EXPECT_THAT(std::string(Tokenizer::Open(folder.string()).status().message()),
              HasSubstr("ends too early"));
  EXPECT_THAT(std::string(Tokenizer::Open("/no/such/file").status().message()),
              HasSubstr("'/no/such/file' does not exist"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace rml::text
