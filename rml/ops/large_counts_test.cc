// Gradients in f16 over more elements than f16 has numbers for: none of them may be counted in it.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "rml/core/convert.h"
#include "rml/ir/backward.h"
#include "rml/ops/eager.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"

namespace rml::ops {
namespace {

using core::DType;
using ir::Value;

constexpr int64_t kMany = 70000;  // f16 ends at 65,504

struct LargeCall {
  const char* op;
  std::vector<core::Shape> shapes;  // of floats
  ir::AttrList attributes = {};
  int64_t targets = 0;  // so many integers behind them
  double dy = 1;
};

class LargeCounts : public ::testing::TestWithParam<LargeCall> {
 protected:
  static std::vector<double> Gradients(const LargeCall& call, DType dtype) {
    static const core::RunContext context;
    EagerBuilder eager(context, {&ReferenceProvider()}, BuiltinOps());
    const Emit e(eager);
    std::vector<Value> inputs;
    for (const core::Shape& shape : call.shapes) {
      std::vector<double> values(static_cast<size_t>(shape.elements()));
      // The same in both dtypes.
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = 1 + 0.125 * static_cast<double>((i * i + 3 * i) % 7);
      const auto wide = core::Tensor::FromHost<double>(shape, values, core::Cpu());
      inputs.emplace_back(*core::Convert(*wide, dtype, core::Cpu()));
      inputs.back().set_requires_grad(true);
    }
    ir::Values wanted;
    for (const Value& input : inputs) wanted.push_back(input);
    if (call.targets > 0) {
      const std::vector<int64_t> targets(static_cast<size_t>(call.targets));
      inputs.emplace_back(*core::Tensor::FromHost<int64_t>({call.targets}, targets, core::Cpu()));
    }
    const Value y = e.call(call.op, inputs, call.attributes)[0];
    // Every other one is 0, so that a mean of them takes something away from each.
    std::vector<double> weights(static_cast<size_t>(y.tensor().elements()));
    for (size_t i = 0; i < weights.size(); i += 2) weights[i] = call.dy;
    const auto wide_dy = core::Tensor::FromHost<double>(y.tensor().shape(), weights, core::Cpu());
    const Value dy(*core::Convert(*wide_dy, dtype, core::Cpu()));
    const auto grads = ir::TapeBackward(eager, std::span(&y, 1), std::span(&dy, 1), wanted);
    EXPECT_TRUE(grads.ok()) << grads.status().message();
    std::vector<double> all;
    if (!grads.ok()) return all;
    for (const Value& grad : *grads) {
      if (!grad.defined()) continue;  // the running statistics'
      const auto wide = core::Convert(grad.tensor(), DType::kF64, core::Cpu());
      const auto data = *wide->HostData<double>();
      all.insert(all.end(), data.begin(), data.end());
    }
    return all;
  }
};

TEST_P(LargeCounts, GradientInHalfPrecisionIsThatInDouble) {
  const std::vector<double> expected = Gradients(GetParam(), DType::kF64);
  const std::vector<double> found = Gradients(GetParam(), DType::kF16);
  ASSERT_EQ(found.size(), expected.size());
  double worst = 0;
  double largest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::abs(expected[i]) > 65504) continue;  // the gradient itself is no number of f16
    ASSERT_TRUE(std::isfinite(found[i])) << "at " << i << ", expected " << expected[i];
    worst = std::max(worst, std::abs(found[i] - expected[i]) / (1 + std::abs(expected[i])));
    largest = std::max(largest, std::abs(expected[i]));
  }
  EXPECT_GT(largest, 0.01) << "a case that shows nothing";
  EXPECT_LT(worst, 2e-2);
}

INSTANTIATE_TEST_SUITE_P(
    All, LargeCounts,
    ::testing::Values(
        LargeCall{"mean", {{kMany}}, {}, 0, 5e4}, LargeCall{"variance", {{kMany}}, {}, 0, 5e4},
        LargeCall{"max", {{kMany}}, {}, 0, 5e4}, LargeCall{"logsumexp", {{kMany}}, {}, 0, 5e4},
        LargeCall{"log_softmax", {{kMany}}, {}, 0, 2},
        LargeCall{"range", {{}, {}}, {{"count", ir::Dims{kMany}}}, 0, 1.0 / 32768},
        LargeCall{
            "batch_norm", {{kMany, 1}, {1}, {1}, {1}, {1}}, {{"training", true}, {"eps", 0.25}}},
        LargeCall{"layer_norm", {{kMany}, {kMany}, {kMany}}},
        LargeCall{"rms_norm", {{kMany}, {kMany}}},
        LargeCall{"avg_pool", {{1, 1, kMany}}, {{"kernel", ir::Ints{kMany}}}, 0, 5e4},
        LargeCall{"lp_pool", {{1, 1, kMany}}, {{"kernel", ir::Ints{kMany}}, {"p", 3}}, 0, 5e4},
        LargeCall{"adaptive_avg_pool", {{1, 1, kMany}}, {{"sizes", ir::Dims{1}}}, 0, 5e4},
        LargeCall{"hstu_attention", {{1, 1, 1, 1}, {1, 1, kMany, 1}, {1, 1, kMany, 1}}, {}, 0, 100},
        LargeCall{"cross_entropy", {{kMany, 2}}, {}, kMany, 5e4}),
    [](const auto& test) { return std::string(test.param.op); });

}  // namespace
}  // namespace rml::ops
