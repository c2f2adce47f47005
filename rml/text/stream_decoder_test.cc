#include "rml/text/stream_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/text/test_support.h"

namespace rml::text {
namespace {

std::shared_ptr<const Tokenizer> Stories() {
  auto tokenizer = Tokenizer::Open(RML_TESTDATA "/stories260k.gguf");
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return *tokenizer;
}

TEST(StreamDecoder, CharactersWaitUntilTheyAreComplete) {
  const auto tokenizer = Stories();
  StreamDecoder decoder(tokenizer);
  std::vector<std::string> texts;
  const auto ids = tokenizer->Encode("é😀!");
  ASSERT_TRUE(ids.ok());
  for (const TokenId id : *ids) texts.push_back(decoder.Push(id));
  std::string joined;
  for (const std::string& text : texts) {
    EXPECT_TRUE(IsValidUtf8(text));
    joined += text;
  }
  EXPECT_EQ(joined, "é😀!");
  EXPECT_EQ(decoder.Flush(), "");
}

TEST(StreamDecoder, WhatNeverBecomesACharacterIsReplaced) {
  const auto tokenizer = Stories();
  const TokenId lead = *tokenizer->Find("<0xE4>");
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.Push(lead), "");
  EXPECT_EQ(decoder.Push(lead), "\uFFFD");
  EXPECT_EQ(decoder.Push(*tokenizer->Find("<0x80>")), "");
  EXPECT_EQ(decoder.Flush(), "\uFFFD");
  EXPECT_EQ(decoder.Flush(), "");
}

TEST(StreamDecoder, EqualsDecodeForRandomIds) {
  const auto tokenizer = Stories();
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    StreamDecoder decoder(tokenizer, /*skip_special=*/round % 2 == 0);
    std::vector<TokenId> ids;
    std::string streamed;
    for (int i = 0; i < 40; ++i) {
      ids.push_back(static_cast<TokenId>(random() % 512));
      const std::string text = decoder.Push(ids.back());
      EXPECT_TRUE(IsValidUtf8(text));
      streamed += text;
    }
    streamed += decoder.Flush();
    EXPECT_EQ(streamed, ToValidUtf8(tokenizer->Decode(ids, round % 2 == 0)));
  }
}

TEST(StreamDecoder, TheLeadingSpaceIsDroppedOnceAndOnlyAtTheStart) {
  const auto tokenizer = Stories();
  const TokenId word = tokenizer->Encode("a", {.add_special = false})->front();
  StreamDecoder decoder(tokenizer);
  const std::string first = decoder.Push(word);
  const std::string second = decoder.Push(word);
  EXPECT_EQ(" " + first, second);
  decoder.Flush();
  EXPECT_EQ(decoder.Push(word), first);
  StreamDecoder middle(tokenizer);
  middle.SetMidText();
  EXPECT_EQ(middle.Push(word), second);
}

}  // namespace
}  // namespace rml::text
