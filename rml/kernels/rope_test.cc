#include "rml/kernels/rope.h"

#include <gmock/gmock.h>

#include "rml/kernels/float_test_util.h"

namespace rml::kernels {
namespace {

TEST(Rope, MatchesTheReferenceForBothLayoutsAndEveryWidth) {
  ForEveryIsa([] {
    for (const int64_t rope_dim : {2, 6, 8, 14, 16, 18, 30, 32, 34, 64, 80, 96, 128, 256}) {
      for (const RopeLayout layout : {RopeLayout::kAdjacent, RopeLayout::kHalves}) {
        const int64_t tokens = 3, heads = 2, head_dim = rope_dim + 4, stride = heads * head_dim + 5;
        TestRandom random(1);
        std::vector<float> x = random.Vector(tokens * stride);
        const RopeFrequencyTable table = RopeFrequencies(static_cast<int>(rope_dim), 10000.0, {});
        const int64_t positions[] = {0, 17, 40000};
        std::vector<float> cos(static_cast<size_t>(tokens * rope_dim / 2));
        std::vector<float> sin(cos.size());
        RopeAngles(positions, table.inverse, table.magnitude, cos.data(), sin.data());
        std::vector<float> expected = x;
        ApplyRopeReference(expected.data(), tokens, heads, head_dim, rope_dim, stride, cos.data(),
                           sin.data(), layout);
        ApplyRope(x.data(), tokens, heads, head_dim, rope_dim, stride, cos.data(), sin.data(),
                  layout);
        for (size_t i = 0; i < x.size(); ++i) {
          ASSERT_NEAR(x[i], expected[i], 2.5e-7) << "rope_dim " << rope_dim << " at " << i;
        }
      }
    }
  });
}

TEST(Rope, PositionZeroChangesNothing) {
  ForEveryIsa([] {
    std::vector<float> x = TestRandom(1).Vector(24);
    const std::vector<float> before = x;
    const RopeFrequencyTable table = RopeFrequencies(24, 10000.0, {});
    const int64_t positions[] = {0};
    float cos[12], sin[12];
    RopeAngles(positions, table.inverse, 1.0f, cos, sin);
    ApplyRope(x.data(), 1, 1, 24, 24, 24, cos, sin, RopeLayout::kHalves);
    EXPECT_EQ(x, before);
  });
}

TEST(Rope, AnglesStayExactAtLargePositions) {
  const int64_t positions[] = {1'000'000};
  const double inverse[] = {1.0};
  float cos = 0, sin = 0;
  RopeAngles(positions, inverse, 2.0f, &cos, &sin);
  EXPECT_FLOAT_EQ(cos, 2.0f * 0.93675213f);  // cos(10^6), sin(10^6)
  EXPECT_FLOAT_EQ(sin, 2.0f * -0.34999350f);
}

TEST(RopeScaling, LinearDividesAndFactorsDivideAgain) {
  const auto plain = RopeFrequencies(8, 10000.0, {}).inverse;
  EXPECT_THAT(plain, testing::ElementsAre(testing::DoubleEq(1.0), testing::DoubleEq(0.1),
                                          testing::DoubleEq(0.01), testing::DoubleEq(0.001)));
  const float factors[] = {1, 2, 4, 8};
  const auto scaled =
      RopeFrequencies(8, 10000.0, {.kind = RopeScalingKind::kLinear, .factor = 4.0}, factors)
          .inverse;
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(scaled[i], plain[i] / 4.0 / static_cast<double>(factors[i]));
  }
}

TEST(RopeScaling, Llama3KeepsFastPairsAndStretchesSlowOnes) {
  const RopeScaling scaling = {.kind = RopeScalingKind::kLlama3,
                               .factor = 8.0,
                               .original_context = 8192,
                               .low_frequency_factor = 1.0,
                               .high_frequency_factor = 4.0};
  const auto plain = RopeFrequencies(128, 500000.0, {}).inverse;
  const auto scaled = RopeFrequencies(128, 500000.0, scaling).inverse;
  EXPECT_DOUBLE_EQ(scaled[0], plain[0]);
  EXPECT_DOUBLE_EQ(scaled[63], plain[63] / 8.0);
  // Pair 31's wavelength, 2 pi * 500000^(62/128) = 3617, lies between 8192 / 4 and 8192 / 1.
  const double keep = (8192.0 / 3617.0 - 1.0) / 3.0;
  EXPECT_NEAR(scaled[31] / plain[31], (1 - keep) / 8.0 + keep, 1e-3);
}

TEST(RopeScaling, YarnRampsBetweenItsTurnsAndSetsTheMagnitude) {
  RopeScaling scaling = {.kind = RopeScalingKind::kYarn, .factor = 4.0, .original_context = 32768};
  const auto plain = RopeFrequencies(128, 1e6, {}).inverse;
  const RopeFrequencyTable table = RopeFrequencies(128, 1e6, scaling);
  EXPECT_DOUBLE_EQ(table.inverse[0], plain[0]);
  EXPECT_DOUBLE_EQ(table.inverse[63], plain[63] / 4.0);
  EXPECT_NEAR(table.magnitude, 1.138629436, 1e-6);  // 1 + ln(4) / 10
  scaling.mscale = 1.0;
  scaling.mscale_all_dim = 1.0;
  EXPECT_EQ(RopeFrequencies(128, 1e6, scaling).magnitude, 1.0f);
  scaling.attention_factor = 0.75;
  EXPECT_EQ(RopeFrequencies(128, 1e6, scaling).magnitude, 0.75f);
}

TEST(RopeScaling, DynamicNtkActsOnlyBeyondTheOriginalContext) {
  RopeScaling scaling = {.kind = RopeScalingKind::kDynamicNtk,
                         .factor = 2.0,
                         .original_context = 2048,
                         .context = 1000};
  const auto plain = RopeFrequencies(64, 10000.0, {}).inverse;
  EXPECT_EQ(RopeFrequencies(64, 10000.0, scaling).inverse, plain);
  scaling.context = 4096;  // base * (2 * 2 - 1)^(64 / 62)
  const auto grown = RopeFrequencies(64, 10000.0, scaling).inverse;
  EXPECT_NEAR(grown[31], std::pow(10000.0 * std::pow(3.0, 64.0 / 62.0), -62.0 / 64.0), 1e-12);
}

TEST(RopeScaling, LongRopePicksItsFactorsByTheContextInUse) {
  RopeScaling scaling = {.kind = RopeScalingKind::kLongRope,
                         .factor = 32.0,
                         .original_context = 4096,
                         .context = 4096,
                         .short_factors = {1.0f, 2.0f},
                         .long_factors = {4.0f, 8.0f}};
  RopeFrequencyTable table = RopeFrequencies(4, 100.0, scaling);
  EXPECT_THAT(table.inverse, testing::ElementsAre(testing::DoubleEq(1.0), testing::DoubleEq(0.05)));
  EXPECT_NEAR(table.magnitude, 1.190238, 1e-6);  // sqrt(1 + ln 32 / ln 4096)
  scaling.context = 4097;
  table = RopeFrequencies(4, 100.0, scaling);
  EXPECT_THAT(table.inverse,
              testing::ElementsAre(testing::DoubleEq(0.25), testing::DoubleEq(0.0125)));
}

}  // namespace
}  // namespace rml::kernels
