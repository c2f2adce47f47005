#include "rml/llm/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace rml::llm {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Everything off: a draw from the plain distribution.
SamplerOptions Plain(uint64_t seed = 1) {
  return {.temperature = 1.0f, .top_k = 0, .top_p = 1.0f, .min_p = 0.0f, .seed = seed};
}

std::map<text::TokenId, int> Count(const SamplerOptions& options, const std::vector<float>& logits,
                                   int draws) {
  Sampler sampler(options);
  std::map<text::TokenId, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[sampler.Sample(logits)];
  return counts;
}

TEST(Sampler, TemperatureZeroTakesTheFirstOfTheLargest) {
  Sampler sampler({.temperature = 0});
  EXPECT_EQ(sampler.Sample(std::vector<float>{1, 5, 5, 2}), 1);
}

TEST(Sampler, NeverChoosesNan) {
  Sampler greedy({.temperature = 0});
  EXPECT_EQ(greedy.Sample(std::vector<float>{kNan, -3, kNan}), 1);
  for (const auto& [id, count] : Count(Plain(), {kNan, 0, kNan, 0}, 200))
    EXPECT_TRUE(id == 1 || id == 3) << count;
}

TEST(Sampler, DrawsInProportionToTheSoftmax) {
  const std::vector<float> logits = {std::log(0.5f), std::log(0.3f), std::log(0.2f)};
  const int draws = 20000;
  auto counts = Count(Plain(), logits, draws);
  // Five standard deviations of a binomial count are below 0.018 of the draws.
  EXPECT_NEAR(counts[0] / double{draws}, 0.5, 0.018);
  EXPECT_NEAR(counts[1] / double{draws}, 0.3, 0.018);
  EXPECT_NEAR(counts[2] / double{draws}, 0.2, 0.018);
}

TEST(Sampler, TemperatureSharpensTheDistribution) {
  SamplerOptions options = Plain();
  options.temperature = 0.5f;  // squares the odds: 9 to 1 becomes 81 to 1
  auto counts = Count(options, {std::log(0.9f), std::log(0.1f)}, 20000);
  EXPECT_NEAR(counts[1] / 20000.0, 1.0 / 82.0, 0.004);
}

TEST(Sampler, TopKKeepsTheKLikeliest) {
  SamplerOptions options = Plain();
  options.top_k = 2;
  for (const auto& [id, count] : Count(options, {0, 1, 2, 3}, 500)) EXPECT_GE(id, 2) << count;
}

TEST(Sampler, TopKBreaksTiesByTheLowerId) {
  SamplerOptions options = Plain();
  options.top_k = 2;
  for (const auto& [id, count] : Count(options, {1, 1, 1, 1}, 500)) EXPECT_LE(id, 1) << count;
}

TEST(Sampler, TopPKeepsTheFewestThatReachIt) {
  SamplerOptions options = Plain();
  options.top_p = 0.75f;  // 0.5 does not reach it, 0.5 + 0.3 does
  auto counts = Count(options, {std::log(0.2f), std::log(0.5f), std::log(0.3f)}, 2000);
  EXPECT_EQ(counts.count(0), 0u);
  EXPECT_GT(counts[1], 0);
  EXPECT_GT(counts[2], 0);
}

TEST(Sampler, MinPIsMeasuredAgainstTheLikeliest) {
  SamplerOptions options = Plain();
  options.min_p = 0.5f;
  auto counts = Count(options, {std::log(0.5f), std::log(0.3f), std::log(0.2f)}, 2000);
  EXPECT_EQ(counts.count(2), 0u);
  EXPECT_GT(counts[1], 0);
}

TEST(Sampler, RepetitionPenaltyLowersPositiveAndNegativeLogits) {
  Sampler sampler({.temperature = 0, .repetition_penalty = 2.0f});
  EXPECT_EQ(sampler.Sample(std::vector<float>{3, 2}), 0);
  sampler.Accept(0);
  EXPECT_EQ(sampler.Sample(std::vector<float>{3, 2}), 1);       // 1.5 and 2
  EXPECT_EQ(sampler.Sample(std::vector<float>{-1, -1.5f}), 1);  // -2 and -1.5
}

TEST(Sampler, RepetitionPenaltyForgetsOldTokens) {
  Sampler sampler({.temperature = 0, .repetition_penalty = 2.0f, .repetition_last_n = 1});
  sampler.Accept(0);
  sampler.Accept(1);
  EXPECT_EQ(sampler.Sample(std::vector<float>{3, 2.9f}), 0);
}

TEST(Sampler, TheSameSeedGivesTheSameTokens) {
  const std::vector<float> logits(50, 0.0f);
  Sampler a(Plain(7)), b(Plain(7)), c(Plain(8));
  int differences = 0;
  for (int i = 0; i < 100; ++i) {
    const auto token = a.Sample(logits);
    EXPECT_EQ(token, b.Sample(logits));
    differences += token != c.Sample(logits);
  }
  EXPECT_GT(differences, 50);
}

TEST(Sampler, ResetStartsTheSequenceAgain) {
  const std::vector<float> logits(50, 0.0f);
  Sampler sampler(Plain(7));
  std::vector<text::TokenId> first, second;
  for (int i = 0; i < 20; ++i) first.push_back(sampler.Sample(logits));
  sampler.Reset();
  for (int i = 0; i < 20; ++i) second.push_back(sampler.Sample(logits));
  EXPECT_EQ(first, second);
}

TEST(Sampler, OptionsOutOfRangeAreNamed) {
  const auto message = [](SamplerOptions options) {
    return std::string(Validate(options).message());
  };
  EXPECT_NE(message({.temperature = -1}).find("--temp"), std::string::npos);
  EXPECT_NE(message({.temperature = kNan}).find("--temp"), std::string::npos);
  EXPECT_NE(message({.top_k = -1}).find("--top-k"), std::string::npos);
  EXPECT_NE(message({.top_p = 0}).find("--top-p"), std::string::npos);
  EXPECT_NE(message({.min_p = 1.5f}).find("--min-p"), std::string::npos);
  EXPECT_NE(message({.repetition_penalty = 0}).find("--repeat-penalty"), std::string::npos);
  EXPECT_NE(message({.repetition_last_n = -2}).find("--repeat-last-n"), std::string::npos);
  EXPECT_TRUE(Validate(SamplerOptions{}).ok());
}

}  // namespace
}  // namespace rml::llm
