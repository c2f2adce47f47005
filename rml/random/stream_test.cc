#include "rml/random/stream.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "rml/random/normal_quantile.h"

namespace rml::random {
namespace {

constexpr int kCount = 200'000;
const Stream kStream(Key::FromSeed(7));

template <typename Draw>
std::vector<double> Draws(Draw draw) {
  std::vector<double> values(kCount);
  for (int i = 0; i < kCount; ++i) values[static_cast<size_t>(i)] = draw(static_cast<uint64_t>(i));
  return values;
}

// Mean and variance within five standard errors of what they should be; `kurtosis` is the fourth
// central moment over the squared variance.
void ExpectMoments(const std::vector<double>& values, double mean, double variance,
                   double kurtosis) {
  double sum = 0, squares = 0;
  for (const double x : values) sum += x;
  const double found = sum / kCount;
  for (const double x : values) squares += (x - found) * (x - found);
  EXPECT_NEAR(found, mean, 5 * std::sqrt(variance / kCount));
  EXPECT_NEAR(squares / kCount, variance, 5 * variance * std::sqrt((kurtosis - 1) / kCount));
}

// Kolmogorov–Smirnov at a level of 1e-4.
template <typename Cdf>
void ExpectDistribution(std::vector<double> values, Cdf cdf) {
  std::ranges::sort(values);
  double distance = 0;
  for (int i = 0; i < kCount; ++i) {
    const double p = cdf(values[static_cast<size_t>(i)]);
    distance = std::max({distance, std::abs(p - static_cast<double>(i) / kCount),
                         std::abs(p - (i + 1.0) / kCount)});
  }
  EXPECT_LT(distance, 2.23 / std::sqrt(kCount));
}

TEST(Stream, UniformsAreUniform) {
  ExpectDistribution(Draws([](uint64_t i) { return kStream.Uniform(i); }),
                     [](double x) { return x; });
  ExpectDistribution(Draws([](uint64_t i) { return kStream.UniformF32(i); }),
                     [](double x) { return x; });
  ExpectMoments(Draws([](uint64_t i) { return kStream.OpenUniform(i); }), 0.5, 1.0 / 12, 1.8);
}

TEST(Stream, ValuesAreTheSameOnEveryMachine) {
  const Stream stream(Key::FromSeed(0));
  EXPECT_EQ(stream.Bits32(0), 0x6627e8d5u);  // the first known answer
  EXPECT_EQ(stream.Bits64(0), 0xe169c58d6627e8d5u);
  EXPECT_EQ(stream.UniformF32(0), 0x6627e8p-24f);
}

TEST(Stream, IntegersAreWithoutBias) {
  constexpr int kBound = 7;
  std::vector<int> counts(kBound);
  for (int i = 0; i < kCount; ++i) ++counts[kStream.Below(kBound, static_cast<uint64_t>(i))];
  double chi = 0;
  for (const int count : counts) chi += std::pow(count - kCount / 7.0, 2) / (kCount / 7.0);
  EXPECT_LT(chi, 27.9);                            // six degrees of freedom, a level of 1e-4
  const uint64_t large = (uint64_t{1} << 63) + 1;  // half of all draws are rejected
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_LT(kStream.Below(large, i), large);
}

TEST(Stream, NormalsAreNormal) {
  ExpectDistribution(Draws([](uint64_t i) { return kStream.Normal(i); }), NormalCdf);
  ExpectMoments(Draws([](uint64_t i) { return kStream.Normal(i, 3); }), 0, 1, 3);
}

TEST(Stream, TruncatedNormalsStayInsideAndFollowTheLaw) {
  for (const auto& [low, high] : {std::pair{-2.0, 2.0}, {-0.5, 3.0}, {4.0, 5.0}, {-9.0, -8.0}}) {
    const auto values = Draws([&](uint64_t i) { return kStream.TruncatedNormal(low, high, i); });
    EXPECT_GE(*std::ranges::min_element(values), low);
    EXPECT_LE(*std::ranges::max_element(values), high);
    // On the side where the tail has its precision.
    const double sign = low > 0 ? -1 : 1;
    const double from = NormalCdf(sign > 0 ? low : -high), to = NormalCdf(sign > 0 ? high : -low);
    std::vector<double> mirrored = values;
    for (double& x : mirrored) x *= sign;
    ExpectDistribution(mirrored, [&](double x) { return (NormalCdf(x) - from) / (to - from); });
  }
}

TEST(Stream, GammasHaveTheirMoments) {
  for (const double shape : {0.3, 1.0, 4.5, 60.0}) {
    ExpectMoments(Draws([&](uint64_t i) { return kStream.Gamma(shape, i); }), shape, shape,
                  3 + 6 / shape);
  }
  ExpectDistribution(Draws([](uint64_t i) { return kStream.Gamma(1, i); }),
                     [](double x) { return -std::expm1(-x); });
}

TEST(Stream, BetasHaveTheirMoments) {
  ExpectDistribution(Draws([](uint64_t i) { return kStream.Beta(2, 1, i); }),
                     [](double x) { return x * x; });
  const double a = 0.5, b = 3;
  ExpectMoments(Draws([&](uint64_t i) { return kStream.Beta(a, b, i); }), a / (a + b),
                a * b / ((a + b) * (a + b) * (a + b + 1)), 6);
}

TEST(Stream, PoissonsHaveTheirMoments) {
  for (const double mean : {0.2, 4.0, 9.9, 10.0, 55.0, 4000.0}) {
    ExpectMoments(Draws([&](uint64_t i) { return static_cast<double>(kStream.Poisson(mean, i)); }),
                  mean, mean, 3 + 1 / mean);
  }
  EXPECT_EQ(kStream.Poisson(0, 1), 0);
}

TEST(NormalQuantile, InvertsTheDistributionFunction) {
  for (const double p : {1e-300, 1e-12, 0.01, 0.02425, 0.3, 0.5, 0.9, 0.9999}) {
    EXPECT_NEAR(NormalCdf(NormalQuantile(p)) / p, 1, 1e-12) << p;
  }
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-14);
}

TEST(Key, FoldsAndSplitsAreAllDifferent) {
  std::set<uint64_t> seen;
  const Key seed = Key::FromSeed(1);
  seen.insert(seed.bits);
  for (uint64_t i = 0; i < 1000; ++i) seen.insert(Fold(seed, i).bits);
  const auto [left, right] = Split(seed);
  for (const Key key : {left, right, Fold(seed, "a"), Fold(seed, "b"), Fold(seed, ""),
                        Fold(seed, "layers.0.mlp"), Fold(seed, std::string_view("a\0", 2))}) {
    seen.insert(key.bits);
  }
  EXPECT_EQ(seen.size(), 1008u);
  EXPECT_EQ(Fold(seed, "layers.0.mlp"), Fold(seed, "layers.0.mlp"));
}

}  // namespace
}  // namespace rml::random
