#include "rml/core/shape.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "rml/core/checked_math.h"
#include "rml/core/dtype.h"
#include "rml/core/dtype_of.h"

namespace rml::core {
namespace {

TEST(Shape, KnowsItsDimensions) {
  const Shape scalar;
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.elements(), 1);
  EXPECT_EQ(scalar.ToString(), "[]");
  const Shape shape = {2, 3, 4};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.elements(), 24);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape.dim(-1), 4);
  EXPECT_EQ(shape.ToString(), "[2, 3, 4]");
  EXPECT_EQ(Shape({5, 0}).elements(), 0);
}

TEST(Shape, EqualityLooksAtRankAndDimensions) {
  EXPECT_TRUE(Shape({2, 3}) == Shape({2, 3}));
  EXPECT_FALSE(Shape({2, 3}) == Shape({3, 2}));
  EXPECT_FALSE(Shape({2, 1}) == Shape({2}));
}

TEST(Shape, MakeRefusesWhatWouldOverflow) {
  const auto make = [](std::vector<int64_t> dims) { return Shape::Make(dims); };
  EXPECT_TRUE(make({INT64_MAX}).ok());
  EXPECT_FALSE(make({INT64_MAX, 2}).ok());
  EXPECT_FALSE(make({int64_t{1} << 32, int64_t{1} << 32}).ok());
  EXPECT_FALSE(make({0, INT64_MAX, INT64_MAX}).ok()) << "strides would overflow";
  EXPECT_FALSE(make({-1}).ok());
  EXPECT_FALSE(make({INT64_MIN}).ok());
  EXPECT_TRUE(make({1, 1, 1, 1, 1, 1, 1, 1}).ok());
  EXPECT_FALSE(make({1, 1, 1, 1, 1, 1, 1, 1, 1}).ok());
}

TEST(ShapeDeathTest, ABadLiteralIsABug) { EXPECT_DEATH(Shape({-1}), "check failed"); }

TEST(BroadcastShapes, FollowsNumpy) {
  EXPECT_TRUE(*BroadcastShapes({3, 1}, {1, 4}) == Shape({3, 4}));
  EXPECT_TRUE(*BroadcastShapes({}, {2, 2}) == Shape({2, 2}));
  EXPECT_TRUE(*BroadcastShapes({5, 2, 3}, {3}) == Shape({5, 2, 3}));
  EXPECT_TRUE(*BroadcastShapes({1}, {0}) == Shape({0}));
  const auto failed = BroadcastShapes({2, 3}, {4, 3});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message(),
            "shapes [2, 3] and [4, 3] do not broadcast: axis -2 is 2 and 4");
}

TEST(BroadcastShapes, RefusesAProductThatOverflows) {
  EXPECT_FALSE(BroadcastShapes({int64_t{1} << 40, 1}, {1, int64_t{1} << 40}).ok());
}

TEST(CheckedMath, SaysWhenAResultDoesNotFit) {
  int64_t out = 0;
  EXPECT_TRUE(CheckedAdd<int64_t>(INT64_MAX, 0, &out));
  EXPECT_FALSE(CheckedAdd<int64_t>(INT64_MAX, 1, &out));
  EXPECT_FALSE(CheckedMul<int64_t>(INT64_MIN, -1, &out));
  uint64_t rounded = 0;
  EXPECT_TRUE(CheckedRoundUp<uint64_t>(65, 64, &rounded));
  EXPECT_EQ(rounded, 128u);
  EXPECT_FALSE(CheckedRoundUp<uint64_t>(UINT64_MAX - 3, 64, &rounded));
  EXPECT_EQ(CeilDiv(7, 3), 3);
  EXPECT_EQ(RoundUp(6, 3), 6);
}

TEST(DType, NamesParseBackInAnyCase) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_FALSE(Name(dtype).empty());
    EXPECT_EQ(ParseDType(Name(dtype)), dtype);
  }
  EXPECT_EQ(ParseDType("Q4_k"), DType::kQ4_K);
  EXPECT_EQ(ParseDType("BF16"), DType::kBF16);
  EXPECT_EQ(ParseDType("f33"), std::nullopt);
  EXPECT_EQ(ParseDType(""), std::nullopt);
}

TEST(DType, StorageIsCountedInWholeBlocks) {
  EXPECT_EQ(StorageBytes(DType::kF32, 3), 12);
  EXPECT_EQ(StorageBytes(DType::kI4, 6), 3);
  EXPECT_EQ(StorageBytes(DType::kI4, 5), std::nullopt);
  EXPECT_EQ(StorageBytes(DType::kQ4_0, 64), 36);
  EXPECT_EQ(StorageBytes(DType::kQ4_0, 33), std::nullopt);
  EXPECT_EQ(StorageBytes(DType::kQ6_K, 256), 210);
  EXPECT_EQ(StorageBytes(DType::kF32, 0), 0);
  EXPECT_EQ(StorageBytes(DType::kF32, -1), std::nullopt);
  EXPECT_EQ(StorageBytes(DType::kF64, INT64_MAX), std::nullopt);
}

TEST(DType, ElementTypesHaveTheSizeOfTheirDtype) {
  const auto check = []<typename T>(T) {
    EXPECT_EQ(Info(DTypeOf<T>::value).block_bytes, static_cast<int>(sizeof(T)));
    EXPECT_TRUE(CanRead<T>(DTypeOf<T>::value));
  };
  check(double());
  check(float());
  check(F16());
  check(BF16());
  check(F8E4M3());
  check(F8E5M2());
  check(int64_t());
  check(int8_t());
  check(uint16_t());
  check(bool());
  EXPECT_TRUE(CanRead<uint8_t>(DType::kBool));
  EXPECT_FALSE(CanRead<uint16_t>(DType::kF16));
}

}  // namespace
}  // namespace rml::core
