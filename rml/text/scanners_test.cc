#include "rml/text/scanners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/text/test_support.h"
#include "rml/text/utf8.h"

namespace rml::text {
namespace {

using testing::ElementsAre;

std::vector<std::string> Scanned(const PreTokenizer& splitter, std::string_view text) {
  std::vector<std::string> pieces;
  const core::Status status = splitter.Split({text, true}, [&](std::string_view piece) {
    pieces.emplace_back(piece);
    return core::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  return pieces;
}

// Unicode 14 (PCRE2) and 15 (utf8proc) differ in the characters that 15 added.
bool AddedInUnicode15(char32_t code) {
  return (code >= 0xCF3 && code <= 0xCF3) || (code >= 0xECE && code <= 0xECE) ||
         (code >= 0x10EFD && code <= 0x10EFF) || (code >= 0x1123F && code <= 0x11241) ||
         (code >= 0x11B00 && code <= 0x11B09) || (code >= 0x11F00 && code <= 0x11F59) ||
         (code >= 0x1342F && code <= 0x13455) || code == 0x1B132 || code == 0x1B155 ||
         (code >= 0x1D2C0 && code <= 0x1D2D3) || (code >= 0x1DF25 && code <= 0x1DF2A) ||
         (code >= 0x1E030 && code <= 0x1E08F) || (code >= 0x1E4D0 && code <= 0x1E4F9) ||
         (code >= 0x1F6DC && code <= 0x1F6DC) || (code >= 0x1F774 && code <= 0x1F776) ||
         (code >= 0x1F77B && code <= 0x1F77F) || code == 0x1F7D9 ||
         (code >= 0x1FA75 && code <= 0x1FA77) || (code >= 0x1FA87 && code <= 0x1FA88) ||
         (code >= 0x1FAAD && code <= 0x1FAAF) || (code >= 0x1FABB && code <= 0x1FABF) ||
         (code >= 0x1FACE && code <= 0x1FACF) || (code >= 0x1FADA && code <= 0x1FADB) ||
         (code >= 0x1FAE8 && code <= 0x1FAE8) || (code >= 0x1FAF7 && code <= 0x1FAF8) ||
         (code >= 0x31350 && code <= 0x323AF) || code == 0x2B739;
}

bool HasCharactersOfUnicode15(std::string_view text) {
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const DecodedChar c = DecodeChar(p, end);
    if (AddedInUnicode15(c.code)) return true;
    p += c.size;
  }
  return false;
}

class ScannerVersusPattern : public testing::TestWithParam<Scanner> {
 protected:
  void SetUp() override {
    auto matcher = CompilePattern(GetParam().pattern, true);
    ASSERT_TRUE(matcher.ok()) << matcher.status().message();
    by_pattern_ = MakeSplit(*std::move(matcher), {});
    by_hand_ = MakeScannerSplit(GetParam());
  }
  void ExpectEqual(std::string_view text) const {
    ASSERT_EQ(Scanned(*by_hand_, text), Scanned(*by_pattern_, text)) << "in: " << text;
  }

  PreTokenizerPtr by_pattern_;
  PreTokenizerPtr by_hand_;
};

TEST_P(ScannerVersusPattern, RandomTextsAreCutAlike) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000 && !HasFailure(); ++i) {
    const std::string text = RandomText(random, static_cast<size_t>(i % 24 + 1));
    if (!HasCharactersOfUnicode15(text)) ExpectEqual(text);
  }
}

TEST_P(ScannerVersusPattern, EveryCharacterIsCutAlikeBetweenNeighbours) {
  for (char32_t code = 1; code < 0x110000 && !HasFailure(); ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    if (code > 0x32000 && code % 251 != 0) continue;
    if (AddedInUnicode15(code)) continue;
    std::string c;
    AppendUtf8(code, &c);
    ExpectEqual("a" + c + "B" + c + c + " " + c + "1" + c + "!" + c + "\n" + c + "'" + c);
  }
}

TEST_P(ScannerVersusPattern, PiecesCoverTheTextWhateverTheBytes) {
  std::mt19937 random(2);
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    const std::string text = RandomText(random, static_cast<size_t>(i % 40), /*invalid=*/true);
    std::string joined;
    for (const std::string& piece : Scanned(*by_hand_, text)) {
      EXPECT_FALSE(piece.empty());
      joined += piece;
    }
    ASSERT_EQ(joined, text);
  }
}

INSTANTIATE_TEST_SUITE_P(, ScannerVersusPattern,
                         testing::ValuesIn(AllScanners().begin(), AllScanners().end()),
                         [](const auto& test) {
                           std::string name(test.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Scanners, LlamaKeepsTheLastSpaceForTheNextWord) {
  const auto split = MakeScannerSplit(*FindScanner(kLlama3Pattern));
  EXPECT_THAT(Scanned(*split, "I'll  go\n\n home 12345."),
              ElementsAre("I", "'ll", " ", " go", "\n\n", " home", " ", "123", "45", "."));
}

TEST(Scanners, LongSFoldsToSInHuggingFacesPatternOnly) {
  EXPECT_THAT(Scanned(*MakeScannerSplit(*FindScanner(kLlama3Pattern)), "x'ſy"),
              ElementsAre("x", "'ſ", "y"));
  EXPECT_THAT(Scanned(*MakeScannerSplit(*FindScanner(kLlama3AsciiPattern)), "x'ſy"),
              ElementsAre("x", "'ſy"));
}

TEST(Scanners, TekkenCutsBeforeUpperCase) {
  const auto split = MakeScannerSplit(*FindScanner(kTekkenPattern));
  EXPECT_THAT(Scanned(*split, "camelCaseHTTPServer a/b"),
              ElementsAre("camel", "Case", "HTTPServer", " a", "/b"));
}

TEST(Scanners, UnknownPatternsHaveNone) { EXPECT_EQ(FindScanner("\\p{L}+"), nullptr); }

}  // namespace
}  // namespace rml::text
