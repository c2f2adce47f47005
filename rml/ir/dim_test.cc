#include "rml/ir/dim.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rml::ir {
namespace {

const Dim kBatch = Dim::Symbol("batch", 1, 64);
const Dim kTokens = Dim::Symbol("tokens", 0, 1000);

TEST(Dim, IntegersAreIntegers) {
  EXPECT_EQ(Dim(3) + 4, Dim(7));
  EXPECT_EQ(Dim(3) * 4, Dim(12));
  EXPECT_EQ(FloorDiv(7, 2), Dim(3));
  EXPECT_FALSE((Dim(3) - 4).valid());
  EXPECT_FALSE(Dim(-1).valid());
  EXPECT_FALSE((Dim(INT64_MAX) + 1).valid());
  EXPECT_FALSE((Dim(INT64_MAX) * 2).valid());
  EXPECT_FALSE(FloorDiv(7, 0).valid());
  EXPECT_FALSE((Dim::Invalid() + 1).valid()) << "invalid stays invalid";
}

TEST(Dim, EqualPolynomialsAreEqual) {
  EXPECT_EQ(kBatch + kTokens, kTokens + kBatch);
  EXPECT_EQ((kBatch + 1) * (kTokens + 2), kBatch * kTokens + 2 * kBatch + kTokens + 2);
  EXPECT_EQ(kBatch + kTokens - kBatch, kTokens);
  EXPECT_EQ(kBatch - kBatch, Dim(0));
  EXPECT_FALSE(kBatch == Dim::Symbol("batch", 1, 65)) << "other bounds";
  EXPECT_EQ(kBatch, Dim::Symbol("batch", 1, 64));
  EXPECT_EQ(Dim::Symbol("one", 5, 5), Dim(5));
}

TEST(Dim, DivisionIsExactWhereItCanBe) {
  EXPECT_EQ(ExactDiv(6 * kBatch * kTokens, 2 * kTokens), 3 * kBatch);
  EXPECT_EQ(FloorDiv(4 * kBatch + 8, 4), kBatch + 2);
  EXPECT_FALSE(ExactDiv(kBatch + 1, 2).valid());
  const Dim half = FloorDiv(kTokens, 2);
  EXPECT_EQ(half, FloorDiv(kTokens, 2));
  EXPECT_EQ(half.min(), 0);
  EXPECT_EQ(half.max(), 500);
  EXPECT_EQ(ExactDiv(kBatch * kTokens + kBatch, kBatch), kTokens + 1);
}

TEST(Dim, BoundsHold) {
  const Dim dim = 2 * kBatch * kTokens + 3;
  EXPECT_EQ(dim.min(), 3);
  EXPECT_EQ(dim.max(), 128003);
  EXPECT_EQ((kTokens - kBatch).min(), 0) << "dimensions are not negative";
  EXPECT_FALSE((kBatch - 65).valid()) << "negative for every batch";
  EXPECT_EQ((Dim::Symbol("huge", 0, INT64_MAX) * kBatch).max(), INT64_MAX);
}

TEST(Dim, TextIsReadBack) {
  const auto symbol = [](std::string_view name) -> core::Expected<Dim> {
    if (name == "batch") return kBatch;
    if (name == "tokens") return kTokens;
    return core::NotFound("no symbol ", name);
  };
  for (const Dim dim :
       {Dim(0), Dim(17), kBatch, 3 * kBatch + 1, kBatch * kTokens - 2 * kBatch, kBatch * kBatch,
        FloorDiv(kTokens + 1, 2) * 3 + 1, FloorDiv(kTokens, kBatch) - 1}) {
    const auto read = ParseDim(dim.ToString(), symbol);
    ASSERT_TRUE(read.ok()) << dim.ToString() << ": " << read.status().message();
    EXPECT_EQ(*read, dim) << dim.ToString();
  }
  EXPECT_EQ((3 * kBatch + 1).ToString(), "3*batch + 1");
  EXPECT_EQ(FloorDiv(kTokens, 2).ToString(), "floor(tokens / 2)");
  for (const char* text : {"", "3 +", "batch batch", "2*", "floor(tokens)", "floor(tokens / 2",
                           "-1", "99999999999999999999", "other"}) {
    EXPECT_FALSE(ParseDim(text, symbol).ok()) << text;
  }
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "floor(";
  EXPECT_FALSE(ParseDim(deep, symbol).ok());
}

TEST(Dim, SymbolsAreFilledIn) {
  const Dim dim = kBatch * kTokens + FloorDiv(kTokens, 4);
  const auto value = dim.Evaluate([](Dim symbol) -> int64_t { return symbol == kBatch ? 3 : 9; });
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, 29);
  const auto unknown =
      dim.Evaluate([](Dim symbol) -> int64_t { return symbol == kBatch ? 3 : -1; });
  EXPECT_THAT(std::string(unknown.status().message()), ::testing::HasSubstr("\"tokens\""));
  EXPECT_FALSE((kTokens - 5).Evaluate([](Dim) -> int64_t { return 2; }).ok()) << "negative here";
  EXPECT_EQ(dim.Substitute([](Dim symbol) { return symbol == kTokens ? 4 * kBatch : symbol; }),
            4 * kBatch * kBatch + kBatch);
  EXPECT_EQ(dim.Symbols().size(), 2u);
}

}  // namespace
}  // namespace rml::ir
