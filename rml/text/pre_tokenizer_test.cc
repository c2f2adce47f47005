#include "rml/text/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "rml/text/test_support.h"
#include "rml/text/unicode.h"

namespace rml::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Pieces(const PreTokenizer& splitter, std::string_view text,
                                bool at_start = true) {
  std::vector<std::string> pieces;
  const core::Status status = splitter.Split({text, at_start}, [&](std::string_view piece) {
    pieces.emplace_back(piece);
    return core::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  return pieces;
}

// The examples of Hugging Face's documentation of the behaviours.
TEST(Split, BehavioursTreatMatchesDifferently) {
  const auto pieces = [](SplitBehavior behavior, bool invert = false) {
    return Pieces(*MakeSplit(MatchString("-"), {behavior, invert}), "the-final--countdown");
  };
  EXPECT_THAT(pieces(SplitBehavior::kRemoved), ElementsAre("the", "final", "countdown"));
  EXPECT_THAT(pieces(SplitBehavior::kIsolated),
              ElementsAre("the", "-", "final", "-", "-", "countdown"));
  EXPECT_THAT(pieces(SplitBehavior::kMergedWithPrevious),
              ElementsAre("the-", "final-", "-", "countdown"));
  EXPECT_THAT(pieces(SplitBehavior::kMergedWithNext),
              ElementsAre("the", "-final", "-", "-countdown"));
  EXPECT_THAT(pieces(SplitBehavior::kContiguous),
              ElementsAre("the", "-", "final", "--", "countdown"));
  EXPECT_THAT(pieces(SplitBehavior::kRemoved, true), ElementsAre("-", "-", "-"));
}

TEST(Split, PatternsOfFilesRunInPcre) {
  const auto split = *MakePatternSplit(R"([A-Z]+|\s+(?!\S)|\d{2})", {}, true);
  EXPECT_THAT(Pieces(*split, "abCDe12 3  "), ElementsAre("ab", "CD", "e", "12", " 3", "  "));
}

TEST(Split, WhiteSpaceInPatternsIsUnicodes) {
  const auto split = *MakePatternSplit(R"(\s|[\s]{9}|[^\S])", {}, true);
  EXPECT_THAT(Pieces(*split,
                     "a\xC2\x85"
                     "b\xE1\xA0\x8E"
                     "c"),
              ElementsAre("a", "\xC2\x85",
                          "b\xE1\xA0\x8E"
                          "c"));
}

TEST(Split, DollarMeansTheLineOnlyWhenMultiLine) {
  EXPECT_THAT(Pieces(**MakePatternSplit("b$", {}, true), "ab\nab"),
              ElementsAre("a", "b", "\na", "b"));
  EXPECT_THAT(Pieces(**MakePatternSplit("b$", {}, false), "ab\nab"), ElementsAre("ab\na", "b"));
}

TEST(Split, BytesThatAreNoUtf8StandBetweenMatches) {
  const auto split = *MakePatternSplit("[a-z]+x?", {}, true);
  EXPECT_THAT(Pieces(*split,
                     "ab\xFF"
                     "cd\xE4\xB8"),
              ElementsAre("ab", "\xFF", "cd", "\xE4\xB8"));
}

TEST(Split, BracketsInClassesDoNotConfuseTheRewriting) {
  EXPECT_THAT(Pieces(**MakePatternSplit(R"([]\s]+)", {}, true), "a] ]b"),
              ElementsAre("a", "] ]", "b"));
  EXPECT_THAT(Pieces(**MakePatternSplit(R"([^]\w]+)", {}, true), "a] !b"),
              ElementsAre("a]", " !", "b"));
  EXPECT_THAT(Pieces(**MakePatternSplit(R"(\[\s)", {}, true), "a[ b"), ElementsAre("a", "[ ", "b"));
}

TEST(Split, WordCharactersAreUnicodes) {
  // As Hugging Face's Whitespace cuts: Roman numerals and circled letters are words, fractions not.
  const auto split = *MakePatternSplit(R"(\w+|[^\w\s]+)", {SplitBehavior::kRemoved, true}, true);
  EXPECT_THAT(Pieces(*split, "a,.$b_c \xCC\x81x Ⅷ½²ⓐ"),
              ElementsAre("a", ",.$", "b_c", "\xCC\x81x", "Ⅷ", "½²", "ⓐ"));
}

TEST(Split, APatternThatDoesNotCompileIsNamed) {
  const auto split = MakePatternSplit("(a", {}, true);
  ASSERT_FALSE(split.ok());
  EXPECT_THAT(split.status().message(), HasSubstr("'(a' cannot be compiled"));
}

TEST(Split, APatternThatExplodesIsAnErrorNotAHang) {
  const auto split = *MakePatternSplit("(a|aa)+[bd]$", {}, true);
  const core::Status status = split->Split({std::string(200, 'a'), true},
                                           [](std::string_view) { return core::OkStatus(); });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), core::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("gave up"));
}

TEST(Split, ALongRunThatNeedsMuchStackStillMatches) {
  const auto split = *MakePatternSplit("((?=[a-z])([^0-9]))+", {}, true);
  EXPECT_EQ(Pieces(*split, std::string(100000, 'a') + "1").size(), 2u);
}

TEST(Sequence, EachStepCutsThePiecesOfTheOneBefore) {
  std::vector<PreTokenizerPtr> steps;
  steps.push_back(MakeSplit(MatchString("-"), {}));
  steps.push_back(MakeSplit(MatchClass(kNumber, true), {}));
  EXPECT_THAT(Pieces(*MakeSequence(std::move(steps)), "a1-22b"),
              ElementsAre("a", "1", "-", "22", "b"));
}

TEST(Metaspace, SchemesDecideWhereAMarkIsPrepended) {
  const auto pieces = [](PrependScheme scheme, bool split, bool at_start) {
    return Pieces(*MakeMetaspace("▁", scheme, split), "Hey  you", at_start);
  };
  EXPECT_THAT(pieces(PrependScheme::kAlways, true, false), ElementsAre("▁Hey", "▁", "▁you"));
  EXPECT_THAT(pieces(PrependScheme::kFirst, true, true), ElementsAre("▁Hey", "▁", "▁you"));
  EXPECT_THAT(pieces(PrependScheme::kFirst, true, false), ElementsAre("Hey", "▁", "▁you"));
  EXPECT_THAT(pieces(PrependScheme::kNever, false, true), ElementsAre("Hey▁▁you"));
}

TEST(SpacePrefix, IsPutBeforePiecesWithoutOne) {
  EXPECT_THAT(Pieces(*MakeSpacePrefix(), "a"), ElementsAre(" a"));
  EXPECT_THAT(Pieces(*MakeSpacePrefix(), " a"), ElementsAre(" a"));
}

}  // namespace
}  // namespace rml::text
