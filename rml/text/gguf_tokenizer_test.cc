// Vocabularies in GGUF metadata: what a small one does, and what is wrong with malformed ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "rml/core/testing/growth.h"
#include "rml/text/byte_alphabet.h"
#include "rml/text/test_support.h"

namespace rml::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr EncodeOptions kPlain = {.add_special = false};

// All 256 bytes, then "he", "ll", "hell", "hello", " hello", then <s> </s> and a word added by
// hand.
VocabularySpec ByteSpec() {
  VocabularySpec spec;
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    spec.tokens.push_back(ToAlphabet({&c, 1}));
  }
  for (const char* token : {"he", "ll", "hell", "hello", "Ġhello", "<s>", "</s>", "added word"}) {
    spec.tokens.emplace_back(token);
  }
  spec.merges = {"h e", "l l", "he ll", "hell o", "Ġ hello"};
  spec.types.assign(256 + 5, 1);
  spec.types.insert(spec.types.end(), {3, 3, 4});
  spec.numbers = {{"tokenizer.ggml.bos_token_id", 261}, {"tokenizer.ggml.eos_token_id", 262}};
  return spec;
}

// "<unk> <s> </s>", the bytes, and a few words.
VocabularySpec SentencePieceSpec() {
  VocabularySpec spec;
  spec.model = "llama";
  spec.pre = "";
  spec.tokens = {"<unk>", "<s>", "</s>"};
  spec.types = {2, 3, 3};
  spec.scores = {0, 0, 0};
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    spec.tokens.push_back(std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">");
    spec.types.push_back(6);
    spec.scores.push_back(0);
  }
  float score = -1;
  for (const char* token : {"▁a", "ab", "▁ab", "b", "a", "▁", "▁▁"}) {
    spec.tokens.emplace_back(token);
    spec.types.push_back(1);
    spec.scores.push_back(score);
    score -= 1;
  }
  return spec;
}

std::shared_ptr<const Tokenizer> Load(const VocabularySpec& spec) {
  auto tokenizer = LoadSpec(spec);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return tokenizer.ok() ? *tokenizer : nullptr;
}

std::string LoadError(const VocabularySpec& spec) {
  const auto tokenizer = LoadSpec(spec);
  return tokenizer.ok() ? "loaded" : std::string(tokenizer.status().message());
}

std::vector<std::string> Texts(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  std::vector<std::string> texts;
  for (const TokenId id : ids) texts.emplace_back(tokenizer.Piece(id));
  return texts;
}

TEST(ByteBpe, MergesInOrderOfTheRules) {
  const auto tokenizer = Load(ByteSpec());
  EXPECT_THAT(*tokenizer->Encode("hello hello", kPlain), ElementsAre(259, 260));
  EXPECT_THAT(Texts(*tokenizer, *tokenizer->Encode("helo", kPlain)), ElementsAre("he", "l", "o"));
  EXPECT_THAT(*tokenizer->Encode("", kPlain), IsEmpty());
  EXPECT_EQ(tokenizer->Decode(std::vector<TokenId>{259, 260}), "hello hello");
  EXPECT_EQ(tokenizer->TokenBytes(260), " hello");
  EXPECT_EQ(tokenizer->Piece(260), "Ġhello");
  EXPECT_EQ(tokenizer->Find("Ġhello"), 260);
  EXPECT_EQ(tokenizer->Find("nothing"), std::nullopt);
}

TEST(ByteBpe, AnyBytesComeBack) {
  const auto tokenizer = Load(ByteSpec());
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    const std::string text = RandomText(random, static_cast<size_t>(i % 50), /*invalid=*/true);
    const auto ids = tokenizer->Encode(text, {.add_special = false, .parse_special = false});
    ASSERT_TRUE(ids.ok());
    EXPECT_EQ(tokenizer->Decode(*ids), text);
  }
}

TEST(ByteBpe, SpecialTokensAreParsedAndSkippedAsAsked) {
  const auto tokenizer = Load(ByteSpec());
  EXPECT_THAT(*tokenizer->Encode("hello</s>added word", kPlain), ElementsAre(259, 262, 263));
  const auto text_only = *tokenizer->Encode("</s>added word", {false, false});
  EXPECT_EQ(text_only.size(), 5u) << "a control token is text, one added by hand is not";
  EXPECT_EQ(text_only.back(), 263);
  const std::vector<TokenId> ids = {261, 259, 262};
  EXPECT_EQ(tokenizer->Decode(ids), "<s>hello</s>");
  EXPECT_EQ(tokenizer->Decode(ids, true), "hello");
  EXPECT_TRUE(tokenizer->IsSpecial(261));
  EXPECT_FALSE(tokenizer->IsSpecial(263));
  EXPECT_TRUE(tokenizer->IsEndOfGeneration(262));
  EXPECT_FALSE(tokenizer->IsEndOfGeneration(261));
}

TEST(ByteBpe, BosAndEosFollowTheKeys) {
  VocabularySpec spec = ByteSpec();
  EXPECT_FALSE(Load(spec)->adds_bos());
  spec.switches = {{"tokenizer.ggml.add_bos_token", true}, {"tokenizer.ggml.add_eos_token", true}};
  const auto tokenizer = Load(spec);
  EXPECT_TRUE(tokenizer->adds_bos());
  EXPECT_TRUE(tokenizer->adds_eos());
  EXPECT_THAT(*tokenizer->Encode("hello"), ElementsAre(261, 259, 262));
  EXPECT_THAT(*tokenizer->Encode(""), ElementsAre(261, 262));
  EXPECT_EQ(tokenizer->bos_text(), "<s>");
}

TEST(ByteBpe, IdsOutsideTheVocabularyAreHarmless) {
  const auto tokenizer = Load(ByteSpec());
  const std::vector<TokenId> ids = {-1, 264, 1 << 30, std::numeric_limits<TokenId>::min(), 259};
  EXPECT_EQ(tokenizer->Decode(ids), "hello");
  EXPECT_EQ(tokenizer->Piece(-1), "");
  EXPECT_EQ(tokenizer->TokenBytes(264), "");
  EXPECT_FALSE(tokenizer->IsSpecial(264));
  EXPECT_FALSE(tokenizer->IsEndOfGeneration(-1));
}

TEST(ByteBpe, LongTextsWithoutASpaceTakeLinearTime) {
  const auto tokenizer = Load(ByteSpec());
  const auto encode = [&](size_t size) {
    std::string text;
    while (text.size() < size) text += "hello";
    EXPECT_EQ(tokenizer->Encode(text, kPlain)->size(), text.size() / 5);
    EXPECT_EQ(tokenizer->Encode(std::string(size, 'l'), kPlain)->size(), size / 2);
  };
  EXPECT_LT(core::testing::TimeGrowth(1 << 16, encode), core::testing::kLinear);
}

TEST(ByteBpe, ManyThreadsEncodeAtOnce) {
  const auto tokenizer = Load(ByteSpec());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const std::string text = "hello helo " + std::to_string(i);
        EXPECT_EQ(tokenizer->Decode(*tokenizer->Encode(text, kPlain)), text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(SentencePiece, PutsASpaceInFrontAndTakesItAway) {
  const auto tokenizer = Load(SentencePieceSpec());
  const auto ids = *tokenizer->Encode("ab a");
  EXPECT_THAT(Texts(*tokenizer, ids), ElementsAre("<s>", "▁ab", "▁a"));
  EXPECT_EQ(tokenizer->Decode(ids, true), "ab a");
  EXPECT_EQ(tokenizer->Decode(*tokenizer->Encode("  b", kPlain)), "  b");
  // Also behind a special token, and never for an empty text.
  EXPECT_THAT(Texts(*tokenizer, *tokenizer->Encode("a</s>a", kPlain)),
              ElementsAre("▁a", "</s>", "▁a"));
  EXPECT_THAT(*tokenizer->Encode("", kPlain), IsEmpty());

  VocabularySpec spec = SentencePieceSpec();
  spec.switches = {{"tokenizer.ggml.add_space_prefix", false}};
  EXPECT_THAT(Texts(*Load(spec), *Load(spec)->Encode("ab a", kPlain)), ElementsAre("ab", "▁a"));
}

TEST(SentencePiece, TheBestScoreMergesFirst) {
  VocabularySpec spec = SentencePieceSpec();
  EXPECT_THAT(Texts(*Load(spec), *Load(spec)->Encode("ab", kPlain)), ElementsAre("▁ab"));
  // Without "▁ab", what remains depends on whether "▁a" or "ab" is joined first.
  spec.tokens[261] = "unreachable";
  EXPECT_THAT(Texts(*Load(spec), *Load(spec)->Encode("ab", kPlain)), ElementsAre("▁a", "b"));
  std::swap(spec.scores[259], spec.scores[260]);
  EXPECT_THAT(Texts(*Load(spec), *Load(spec)->Encode("ab", kPlain)), ElementsAre("▁", "ab"));
}

TEST(SentencePiece, WhatHasNoTokenBecomesBytes) {
  const auto tokenizer = Load(SentencePieceSpec());
  const auto ids = *tokenizer->Encode("a中\xFF\n", kPlain);
  EXPECT_THAT(Texts(*tokenizer, ids),
              ElementsAre("▁a", "<0xE4>", "<0xB8>", "<0xAD>", "<0xFF>", "<0x0A>"));
  EXPECT_EQ(tokenizer->Decode(ids), "a中\xFF\n");
}

TEST(SentencePiece, AnyBytesComeBackWithoutAPrefix) {
  VocabularySpec spec = SentencePieceSpec();
  spec.switches = {{"tokenizer.ggml.add_space_prefix", false}};
  const auto tokenizer = Load(spec);
  std::mt19937 random(6);
  for (int i = 0; i < 500; ++i) {
    std::string text = RandomText(random, static_cast<size_t>(i % 50), /*invalid=*/true);
    // U+2581 itself is how a space is written.
    for (size_t at; (at = text.find("▁")) != std::string::npos;) text.erase(at, 3);
    EXPECT_EQ(tokenizer->Decode(*tokenizer->Encode(text, {false, false})), text);
  }
}

TEST(SentencePiece, WithoutBytesTheUnknownTokenStandsIn) {
  VocabularySpec spec = SentencePieceSpec();
  for (size_t id = 3; id < 259; ++id) {
    spec.tokens[id] = "x" + std::to_string(id);
    spec.types[id] = 1;
  }
  EXPECT_THAT(Texts(*Load(spec), *Load(spec)->Encode("é", kPlain)),
              ElementsAre("▁", "<unk>", "<unk>"));
}

TEST(SentencePiece, LongTextsWithoutASpaceTakeLinearTime) {
  const auto tokenizer = Load(SentencePieceSpec());
  const auto encode = [&](size_t size) {
    EXPECT_TRUE(tokenizer->Encode(std::string(size, 'a')).ok());
    EXPECT_TRUE(tokenizer->Encode(std::string(size, ' ')).ok());
  };
  EXPECT_LT(core::testing::TimeGrowth(1 << 16, encode), core::testing::kLinear);
}

TEST(MalformedVocabulary, EachKindIsNamed) {
  const auto with = [](VocabularySpec spec, auto change) {
    change(spec);
    return LoadError(spec);
  };
  using Spec = VocabularySpec;
  EXPECT_EQ(with(ByteSpec(), [](Spec&) {}), "loaded");
  EXPECT_EQ(with(SentencePieceSpec(), [](Spec&) {}), "loaded");
  EXPECT_THAT(with(ByteSpec(), [](Spec& s) { s.model = "t5"; }),
              HasSubstr("tokenizer.ggml.model is 't5'"));
  EXPECT_THAT(with(ByteSpec(), [](Spec& s) { s.pre = "bloom"; }),
              AllOf(HasSubstr("tokenizer.ggml.pre is 'bloom'"), HasSubstr("smollm")));
  EXPECT_THAT(with(ByteSpec(), [](Spec& s) { s.tokens[5] = s.tokens[4]; }),
              HasSubstr("tokens 4 and 5 are both"));
  EXPECT_THAT(with(ByteSpec(), [](Spec& s) { s.types.pop_back(); }),
              HasSubstr("token_type has 263 elements for 264 tokens"));
  EXPECT_THAT(with(ByteSpec(), [](Spec& s) { s.merges.push_back("he zz"); }),
              AllOf(HasSubstr("rule 5 ('he zz')"), HasSubstr("the token 'zz'")));
  EXPECT_THAT(with(ByteSpec(), [](Spec& s) { s.merges.push_back("he he"); }),
              HasSubstr("the token 'hehe'"));
  for (const char* rule : {"", "x", " ", "he ", "hell"}) {
    EXPECT_THAT(with(ByteSpec(), [rule](Spec& s) { s.merges[0] = rule; }),
                HasSubstr("not two tokens with a space between"))
        << rule;
  }
  EXPECT_THAT(with(ByteSpec(), [](Spec& s) { s.numbers[0].second = 264; }),
              HasSubstr("bos_token_id is 264"));
  EXPECT_THAT(with(ByteSpec(), [](Spec& s) { s.numbers[1].second = 0xFFFFFFFF; }),
              HasSubstr("eos_token_id is 4294967295"));
  EXPECT_THAT(with(SentencePieceSpec(), [](Spec& s) { s.tokens[3] = "<0x-1>"; }),
              HasSubstr("token 3 is marked as a byte and reads '<0x-1>'"));
  EXPECT_THAT(with(SentencePieceSpec(), [](Spec& s) { s.tokens[3] = "<0x0"; }),
              HasSubstr("token 3 is marked as a byte"));
  EXPECT_THAT(with(SentencePieceSpec(), [](Spec& s) { s.scores.pop_back(); }),
              HasSubstr("scores has 265 elements for 266 tokens"));
  EXPECT_THAT(with(SentencePieceSpec(),
                   [](Spec& s) { s.scores[7] = std::numeric_limits<float>::quiet_NaN(); }),
              HasSubstr("score 7 is not a number"));
  EXPECT_THAT(with(ByteSpec(),
                   [](Spec& s) {
                     s.tokens.clear();
                     s.types.clear();
                     s.merges.clear();
                   }),
              HasSubstr("tokens"));
}

TEST(MalformedVocabulary, MessagesNameTheFile) {
  VocabularySpec spec = ByteSpec();
  spec.pre = "nobody-knows";
  EXPECT_THAT(LoadError(spec), testing::StartsWith("test.gguf: "));
}

TEST(MalformedVocabulary, EmptyTokensAreNeverProduced) {
  VocabularySpec spec = ByteSpec();
  spec.tokens[258] = "";
  spec.tokens[259] = "";
  spec.merges = {"h e", "l l"};
  const auto tokenizer = Load(spec);
  EXPECT_THAT(Texts(*tokenizer, *tokenizer->Encode("hello", kPlain)), ElementsAre("he", "ll", "o"));
}

TEST(MalformedVocabulary, MissingBytesAreLeftOut) {
  VocabularySpec spec = ByteSpec();
  spec.tokens[static_cast<size_t>('o')] = "never";
  spec.merges = {"h e", "l l"};
  const auto tokenizer = Load(spec);
  EXPECT_THAT(Texts(*tokenizer, *tokenizer->Encode("lol", kPlain)), ElementsAre("l", "l"));
}

}  // namespace
}  // namespace rml::text
