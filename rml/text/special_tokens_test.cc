#include "rml/text/special_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/core/testing/growth.h"
#include "rml/text/test_support.h"

namespace rml::text {
namespace {

using Order = SpecialTokens::Order;
using testing::ElementsAre;

// "text" or "<id>:text" for each segment.
std::vector<std::string> Split(const SpecialTokens& tokens, std::string_view text,
                               bool parse_control = true) {
  std::vector<TextSegment> segments;
  tokens.Split(text, parse_control, &segments);
  std::vector<std::string> result;
  for (const TextSegment& segment : segments) {
    result.push_back(segment.token < 0 ? std::string(segment.text)
                                       : core::StrCat(segment.token, ":", segment.text));
  }
  return result;
}

std::vector<SpecialToken> Tokens(std::initializer_list<std::string> texts) {
  std::vector<SpecialToken> tokens;
  for (const std::string& text : texts) {
    tokens.push_back({.id = static_cast<TokenId>(tokens.size()), .text = text, .control = true});
  }
  return tokens;
}

TEST(SpecialTokens, LeftmostThenLongest) {
  const SpecialTokens tokens(Tokens({"ab", "bcd", "abc"}), Order::kLeftmostLongest);
  EXPECT_THAT(Split(tokens, "xabcdy"), ElementsAre("x", "2:abc", "dy"));
  EXPECT_THAT(Split(tokens, "abd"), ElementsAre("0:ab", "d"));
  EXPECT_THAT(Split(tokens, ""), ElementsAre());
  EXPECT_THAT(Split(tokens, "ba"), ElementsAre("ba"));
}

TEST(SpecialTokens, LongestFirstWhereverItStands) {
  const SpecialTokens tokens(Tokens({"ab", "bcd"}), Order::kLongestFirst);
  EXPECT_THAT(Split(tokens, "abcd"), ElementsAre("a", "1:bcd"));
  EXPECT_THAT(Split(tokens, "abab"), ElementsAre("0:ab", "0:ab"));
}

TEST(SpecialTokens, AShorterTokenGetsItsTurnWhenALongerOneElsewhereTookTheText) {
  // At 0 "abc" is longest, but "cdef" takes its 'c'; "ab" remains.
  const SpecialTokens tokens(Tokens({"ab", "abc", "cdef"}), Order::kLongestFirst);
  EXPECT_THAT(Split(tokens, "abcdef"), ElementsAre("0:ab", "2:cdef"));
}

TEST(SpecialTokens, ControlTokensStayTextWhenNotParsed) {
  std::vector<SpecialToken> list = Tokens({"<s>", "<s>x"});
  list[1].control = false;
  for (const Order order : {Order::kLeftmostLongest, Order::kLongestFirst}) {
    const SpecialTokens tokens(list, order);
    EXPECT_THAT(Split(tokens, "a<s>b", false), ElementsAre("a<s>b"));
    EXPECT_THAT(Split(tokens, "a<s>xb", false), ElementsAre("a", "1:<s>x", "b"));
  }
}

TEST(SpecialTokens, WhiteSpaceGoesWithTokensThatStrip) {
  std::vector<SpecialToken> list = Tokens({"<l>", "<r>"});
  list[0].strip_left = true;
  list[1].strip_right = true;
  const SpecialTokens left_first(list, Order::kLeftmostLongest);
  EXPECT_THAT(Split(left_first, "a \n<l> b<r>\t c"),
              ElementsAre("a", "0: \n<l>", " b", "1:<r>\t ", "c"));
  EXPECT_THAT(Split(left_first, "  <l>"), ElementsAre("0:  <l>"));
  EXPECT_THAT(Split(left_first, "<r>  <l>"), ElementsAre("1:<r>  ", "0:<l>"));
  const SpecialTokens longest_first(list, Order::kLongestFirst);
  EXPECT_THAT(Split(longest_first, "a \n<l> b<r>\t c"),
              ElementsAre("a", "0:<l>", " b", "1:<r>", "c"));
}

TEST(SpecialTokens, SingleWordsAreNotFoundInsideWords) {
  std::vector<SpecialToken> list = Tokens({"cat"});
  list[0].single_word = true;
  const SpecialTokens tokens(list, Order::kLeftmostLongest);
  EXPECT_THAT(Split(tokens, "cat concat, cat! éscatx"),
              ElementsAre("0:cat", " concat, ", "0:cat", "! éscatx"));
}

// llama.cpp's procedure as it is described: for every token, longest first, in all text that is
// left.
std::vector<std::string> SplitByRounds(std::vector<SpecialToken> list, const std::string& text) {
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
  std::vector<std::pair<std::string, TokenId>> parts = {{text, -1}};
  for (const SpecialToken& token : list) {
    std::vector<std::pair<std::string, TokenId>> next;
    for (const auto& [part, id] : parts) {
      if (id >= 0) {
        next.push_back({part, id});
        continue;
      }
      size_t from = 0;
      for (size_t at; (at = part.find(token.text, from)) != std::string::npos;) {
        if (at > from) next.push_back({part.substr(from, at - from), -1});
        next.push_back({token.text, token.id});
        from = at + token.text.size();
      }
      if (from < part.size()) next.push_back({part.substr(from), -1});
    }
    parts = std::move(next);
  }
  std::vector<std::string> result;
  for (const auto& [part, id] : parts) {
    result.push_back(id < 0 ? part : core::StrCat(id, ":", part));
  }
  return result;
}

TEST(SpecialTokens, LongestFirstEqualsRoundsOverTheText) {
  std::mt19937 random(4);
  const auto letters = [&](size_t n) {
    std::string text;
    for (size_t i = 0; i < n; ++i) text += static_cast<char>('a' + random() % 2);
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<SpecialToken> list;
    for (int i = 0; i < 6; ++i) {
      const std::string text = letters(1 + random() % 4);
      const bool known = std::any_of(list.begin(), list.end(),
                                     [&](const auto& token) { return token.text == text; });
      if (!known) list.push_back({.id = i, .text = text});
    }
    const std::string text = letters(random() % 30);
    const SpecialTokens tokens(list, Order::kLongestFirst);
    auto expected = SplitByRounds(list, text);
    if (text.empty()) expected.clear();
    ASSERT_EQ(Split(tokens, text), expected) << text;
  }
}

TEST(SpecialTokens, OverlappingMatchesTakeLinearTime) {
  std::vector<SpecialToken> list;
  for (int n = 1; n < 32; ++n) {
    list.push_back({.id = n, .text = std::string(static_cast<size_t>(n), '\n')});
  }
  const SpecialTokens tokens(list, Order::kLongestFirst);
  const auto split = [&](size_t size) {
    std::vector<TextSegment> segments;
    tokens.Split(std::string(size, '\n'), true, &segments);
    EXPECT_EQ(segments.size(), size / 31 + 1);
  };
  EXPECT_LT(core::testing::TimeGrowth(1 << 16, split), core::testing::kLinear);
}

}  // namespace
}  // namespace rml::text
