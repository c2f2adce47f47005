#include "rml/core/strcat.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "rml/core/format_bytes.h"

namespace rml::core {
namespace {

TEST(StrCat, JoinsTextAndNumbersOfEveryWidth) {
  EXPECT_EQ(StrCat(), "");
  EXPECT_EQ(StrCat("a", std::string("b"), std::string_view("c"), 'd'), "abcd");
  EXPECT_EQ(StrCat(int8_t{-128}, ' ', uint8_t{255}, ' ', int16_t{-1}, ' ', uint16_t{65535}),
            "-128 255 -1 65535");
  EXPECT_EQ(StrCat(INT64_MIN, " ", UINT64_MAX), "-9223372036854775808 18446744073709551615");
  EXPECT_EQ(StrCat(true, false), "truefalse");
}

TEST(StrCat, FloatsAreTheShortestTextThatReadsBackAsTheSame) {
  EXPECT_EQ(StrCat(0.1), "0.1");
  EXPECT_EQ(StrCat(0.1f), "0.1");
  EXPECT_EQ(StrCat(1e300), "1e+300");
  EXPECT_EQ(StrCat(-1.0 / 3), "-0.3333333333333333");
  EXPECT_EQ(StrCat(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(StrCat(std::numeric_limits<double>::denorm_min()), "5e-324");
}

TEST(StrCat, TextMayHoldZeroBytes) {
  EXPECT_EQ(StrCat(std::string_view("a\0b", 3), "c").size(), 4u);
}

TEST(FormatBytes, ShowsThreeSignificantDigitsOrMore) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1024), "1.00 KiB");
  EXPECT_EQ(FormatBytes(1536), "1.50 KiB");
  EXPECT_EQ(FormatBytes(int64_t{10} << 20), "10.0 MiB");
  EXPECT_EQ(FormatBytes((int64_t{1} << 20) - 1), "1.00 MiB");
  EXPECT_EQ(FormatBytes(1299227607), "1.21 GiB");
  EXPECT_EQ(FormatBytes(INT64_MAX), "8.00 EiB");
  EXPECT_EQ(FormatBytes(-2048), "-2.00 KiB");
}

}  // namespace
}  // namespace rml::core
