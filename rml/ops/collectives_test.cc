// Collectives over a group of threads: values, and gradients against finite differences of the sum
// of every member's loss.
#include <cmath>

#include <gtest/gtest.h>

#include "rml/core/error.h"
#include "rml/ir/backward.h"
#include "rml/ops/eager.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"
#include "rml/ops/testing/thread_collectives.h"

namespace rml::ops {
namespace {

using ir::Value;

constexpr int kMembers = 3;

class AllReduceTest : public ::testing::TestWithParam<const char*> {
 protected:
  // Member r's x is [r + 1, 2 - r, 0.5] plus `step` for member 0; its loss is Σ (r + 1 + i) · y[i].
  struct Result {
    std::vector<std::vector<double>> y = std::vector<std::vector<double>>(kMembers);
    std::vector<std::vector<double>> gradient = std::vector<std::vector<double>>(kMembers);
    double loss = 0;
  };

  static Result Run(double step) {
    Result result;
    std::vector<double> losses(kMembers);
    testing::ThreadGroup group(kMembers);
    group.Run([&](core::Collectives& member) {
      const core::RunContext context = {.collectives = &member};
      EagerBuilder eager(context, {&ReferenceProvider()}, BuiltinOps());
      const Emit e(eager);
      const auto r = static_cast<size_t>(member.rank());
      const std::vector<double> content = {member.rank() + 1 + (r == 0 ? step : 0),
                                           2.25 - member.rank(), 0.5 + 0.1 * member.rank()};
      const std::vector<double> weights = {1.0 + member.rank(), 2.0 + member.rank(),
                                           3.0 + member.rank()};
      Value x(*core::Tensor::FromHost<double>({3}, content, core::Cpu()));
      x.set_requires_grad(true);
      const Value y = e.one("all_reduce", {x}, {{"op", GetParam()}});
      const Value loss =
          e.sum(e.mul(y, Value(*core::Tensor::FromHost<double>({3}, weights, core::Cpu()))), {});
      const Value one = e.scalar(1, core::DType::kF64);
      const auto gradient =
          ir::TapeBackward(eager, std::span(&loss, 1), std::span(&one, 1), std::span(&x, 1));
      ASSERT_TRUE(gradient.ok()) << gradient.status().message();
      const auto values = *y.tensor().HostData<double>();
      const auto grads = *(*gradient)[0].tensor().HostData<double>();
      result.y[r].assign(values.begin(), values.end());
      result.gradient[r].assign(grads.begin(), grads.end());
      losses[r] = (*loss.tensor().HostData<double>())[0];
    });
    for (const double loss : losses) result.loss += loss;
    return result;
  }
};

TEST_P(AllReduceTest, EveryMemberHasTheCombination) {
  const Result result = Run(0);
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
