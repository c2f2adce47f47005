#include "rml/text/unicode.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <sstream>

#include "rml/core/testing/growth.h"
#include "rml/text/test_support.h"

namespace rml::text {
namespace {

TEST(Utf8, DecodesWhatRfc3629AllowsAndNothingElse) {
  const auto decode = [](std::string_view s) {
    const DecodedChar c = DecodeChar(s.data(), s.data() + s.size());
    return std::pair(c.code, c.size);
  };
  const auto invalid = std::pair(kInvalidChar, 1u);
  EXPECT_EQ(decode("a"), std::pair(U'a', 1u));
  EXPECT_EQ(decode("é"), std::pair(char32_t{0xE9}, 2u));
  EXPECT_EQ(decode("中"), std::pair(char32_t{0x4E2D}, 3u));
  EXPECT_EQ(decode("😀"), std::pair(char32_t{0x1F600}, 4u));
  EXPECT_EQ(decode("\xF4\x8F\xBF\xBF"), std::pair(char32_t{0x10FFFF}, 4u));
  EXPECT_EQ(decode("\xF4\x90\x80\x80"), invalid);
  EXPECT_EQ(decode("\xED\xA0\x80"), invalid);  // a surrogate
  EXPECT_EQ(decode("\xC0\x80"), invalid);      // overlong
  EXPECT_EQ(decode("\xE0\x80\x80"), invalid);
  EXPECT_EQ(decode("\x80"), invalid);
  EXPECT_EQ(decode("\xE4\xB8"), invalid);  // cut short
  EXPECT_EQ(decode("\xFF"), invalid);
}

TEST(Utf8, EveryCodePointSurvivesARoundTrip) {
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    AppendUtf8(code, &text);
    const DecodedChar c = DecodeChar(text.data(), text.data() + text.size());
    ASSERT_EQ(c.code, code);
    ASSERT_EQ(c.size, text.size());
    // Every proper prefix is incomplete, and the whole is not.
    ASSERT_EQ(IncompleteTail(text), 0u);
    for (size_t cut = 1; cut < text.size(); ++cut) {
      ASSERT_EQ(IncompleteTail("x" + text.substr(0, cut)), cut);
    }
  }
}

TEST(Utf8, InvalidBytesBecomeReplacementCharacters) {
  EXPECT_EQ(ToValidUtf8("aéz"), "aéz");
  EXPECT_EQ(ToValidUtf8("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(ToValidUtf8("a\xE4\xB8"), "a\uFFFD");
  EXPECT_EQ(ToValidUtf8("\xE4\xB8z"), "\uFFFDz");
  EXPECT_EQ(ToValidUtf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(ToValidUtf8("\xF0\x9F\x98\xF0\x9F\x98\x80"), "\uFFFD😀");
  EXPECT_FALSE(IsValidUtf8("a\x80"));
  EXPECT_TRUE(IsValidUtf8("a中"));
  EXPECT_EQ(IncompleteTail("a\x80\x80\x80"), 0u);  // can never become a character
  EXPECT_EQ(IncompleteTail(""), 0u);
}

TEST(Unicode, AsciiTableEqualsTheProperties) {
  for (char32_t code = 0; code < 128; ++code) {
    EXPECT_EQ(kAsciiClass[code], ClassOfCode(code)) << static_cast<int>(code);
  }
}

TEST(Unicode, PropertiesOfChosenCharacters) {
  EXPECT_EQ(ClassOfCode(U'é'), kLetter | kLower);
  EXPECT_EQ(ClassOfCode(0x1C5), kLetter | kUpper);  // Lt
  EXPECT_EQ(ClassOfCode(U'中'), kLetter);
  EXPECT_EQ(ClassOfCode(0x301), kMark);
  EXPECT_EQ(ClassOfCode(U'½'), kNumber);
  EXPECT_EQ(ClassOfCode(U'€'), kSymbol);
  EXPECT_EQ(ClassOfCode(U'«'), kPunctuation);
  for (const char32_t space :
       {0x9, 0xB, 0x20, 0x85, 0xA0, 0x1680, 0x2003, 0x2029, 0x202F, 0x3000}) {
    EXPECT_TRUE(ClassOfCode(space) & kSpace) << static_cast<int>(space);
  }
  for (const char32_t other : {0x180E, 0x200B, 0xFEFF, 0x1C}) {
    EXPECT_FALSE(ClassOfCode(other) & kSpace) << static_cast<int>(other);
  }
  EXPECT_EQ(ClassOfCode(kInvalidChar), 0);
}

std::string InflateFile(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  if (file == nullptr) return text;
  char buffer[1 << 16];
  for (int n; (n = gzread(file, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  gzclose(file);
  return text;
}

TEST(Unicode, NormalFormsPassTheConsortiumsTest) {
  RML_FOLDER_OR_SKIP(data, "RML_DATA_DIR");
  std::istringstream lines(InflateFile(data + "/tokenizers/unicode/NormalizationTest.txt.gz"));
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#' || line[0] == '@') continue;
    std::string column[5];  // source, NFC, NFD, NFKC, NFKD
    std::istringstream fields(line);
    for (std::string& text : column) {
      std::string field;
      std::getline(fields, field, ';');
      std::istringstream codes(field);
      for (uint32_t code; codes >> std::hex >> code;) AppendUtf8(code, &text);
    }
    ++count;
    SCOPED_TRACE(line);
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(Normalize(column[i], NormalForm::kNfc), column[i < 3 ? 1 : 3]);
      ASSERT_EQ(Normalize(column[i], NormalForm::kNfd), column[i < 3 ? 2 : 4]);
      ASSERT_EQ(Normalize(column[i], NormalForm::kNfkc), column[3]);
      ASSERT_EQ(Normalize(column[i], NormalForm::kNfkd), column[4]);
    }
    // The cheap test may only say yes when it is so.
    if (IsSurelyNfc(column[0])) {
      ASSERT_EQ(column[0], column[1]);
    }
  }
  EXPECT_GT(count, 19000);
}

TEST(Unicode, NormalizingKeepsInvalidBytes) {
  EXPECT_EQ(Normalize("e\xCC\x81\xFF"
                      "e\xCC\x81",
                      NormalForm::kNfc),
            "é\xFF"
            "é");
  EXPECT_EQ(Normalize("\xCC", NormalForm::kNfc), "\xCC");
}

TEST(Unicode, ManyMarksOnOneLetterAreOrderedInLinearTime) {
  const auto normalize = [](size_t marks) {
    std::string text = "a";
    for (size_t i = 0; i < marks; ++i) text += i % 2 == 0 ? "\xCC\x81" : "\xCC\xA3";
    EXPECT_EQ(Normalize(text, NormalForm::kNfc).substr(0, 4), "ạ\xCC");
  };
  EXPECT_LT(core::testing::TimeGrowth(50'000, normalize), core::testing::kLinear);
}

TEST(Unicode, LowerCaseByCharacter) {
  EXPECT_EQ(ToLower("ÀBÇ İ ẞ 中\xFF"), "àbç i\xCC\x87 ß 中\xFF");
}

}  // namespace
}  // namespace rml::text
