// Collectives over a group of threads: values, and gradients against finite differences of the sum
// of every member's loss.
#include <cmath>

#include <gtest/gtest.h>

#include "rml/ops/testing/group_run.h"

namespace rml::ops {
namespace {

constexpr int kMembers = 3;

class AllReduceTest : public ::testing::TestWithParam<const char*> {
 protected:
  // Member r's x is [r + 1, 2.25 - r, 0.5 + 0.1 r], `step` added to the first of member 0; its loss
  // is Σ (r + 1 + i) · y[i].
  static testing::GroupRun Run(double step) {
    return testing::RunOnGroup(
        kMembers, "all_reduce", {{"op", GetParam()}},
        [&](int r) {
          const std::vector<double> content = {r + 1 + (r == 0 ? step : 0), 2.25 - r,
                                               0.5 + 0.1 * r};
          return *core::Tensor::FromHost<double>({3}, content, core::Cpu());
        },
        [](int r, int64_t i) { return 1.0 + r + static_cast<double>(i); });
  }
};

TEST_P(AllReduceTest, EveryMemberHasTheCombination) {
  const testing::GroupRun result = Run(0);
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<size_t>(i);
    EXPECT_EQ(result.y[0][at], result.y[1][at]);
    EXPECT_EQ(result.y[0][at], result.y[2][at]);
  }
  const std::string how = GetParam();
  EXPECT_EQ(result.y[0][0], how == "sum" ? 6 : how == "max" ? 3 : how == "min" ? 1 : 6);
}

TEST_P(AllReduceTest, GradientIsThatOfTheSumOfLosses) {
  const double found = Run(0).gradient[0][0];
  const double expected = (Run(1e-4).loss - Run(-1e-4).loss) / 2e-4;
  EXPECT_NEAR(found, expected, 1e-6 * (1 + std::abs(expected)));
}

INSTANTIATE_TEST_SUITE_P(Ways, AllReduceTest, ::testing::Values("sum", "max", "min", "prod"),
                         [](const auto& way) { return std::string(way.param); });

}  // namespace
}  // namespace rml::ops
