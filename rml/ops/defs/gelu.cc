// y = x Φ(x)
#include <cmath>
#include <numbers>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {
namespace {

constexpr double kSqrtHalf = std::numbers::sqrt2 / 2;
constexpr double kRootTwoOverPi = 2 * kSqrtHalf * std::numbers::inv_sqrtpi;  // √(2/π)
constexpr double kCubic = 0.044715;

// Φ(x) + x Φ'(x), by parts that keep their digits far below 0, where Φ is tiny.
ir::Value ExactSlope(const Emit& e, const ir::Value& x) {
  const ir::Value phi = e.mul(e.one("erfc", {e.mul(x, -kSqrtHalf)}), 0.5);
  const ir::Value bell = e.mul(e.exp(e.mul(e.mul(x, x), -0.5)), kRootTwoOverPi / 2);
  return e.add(phi, e.mul(x, bell));
}

// σ(2u) is (1 + tanh u) / 2 without cancellation. Far from 0 the slope is 0 or 1 in every dtype,
// and x² would leave f16: there any x far from 0 does.
ir::Value TanhSlope(const Emit& e, const ir::Value& any_x) {
  const ir::Value x = e.one("clamp", {any_x, e.like(any_x, -30), e.like(any_x, 30)});
  const ir::Value squared = e.mul(x, x);
  const ir::Value u2 =
      e.mul(x, e.add(e.mul(squared, 2 * kRootTwoOverPi * kCubic), 2 * kRootTwoOverPi));
  const ir::Value gate = e.one("sigmoid", {u2});
  const ir::Value rest = e.one("sigmoid", {e.neg(u2)});
  const ir::Value slope = e.add(e.mul(squared, 6 * kRootTwoOverPi * kCubic), 2 * kRootTwoOverPi);
  return e.mul(gate, e.add(e.mul(e.mul(x, rest), slope), 1));
}

}  // namespace

ir::OpDef Gelu() {
  ir::OpDef op = UnaryWith(
      "gelu",
      "`y = x Φ(x)` with the normal distribution's Φ (Hendrycks and Gimpel 2016). `approximate` is "
      "`none`, or `tanh`: `x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`.",
      {{"approximate", "none"}}, [](const ir::OpCall& call) -> UnaryFunction {
        if (call.text("approximate") == "none")
          return [](double x) { return 0.5 * x * std::erfc(-x * kSqrtHalf); };
        return [](double x) {
          return x / (1 + std::exp(-2 * kRootTwoOverPi * (x + kCubic * x * x * x)));
        };
      });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    const std::string& approximate = call.text("approximate");
    if (approximate != "none" && approximate != "tanh")
      return core::InvalidArgument("approximate is ", approximate, ", expected none or tanh");
    return InferLikeFirst(call, outputs);
  };
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const bool exact = call.call().text("approximate") == "none";
    return {e.mul(call.grad(0), exact ? ExactSlope(e, call.in(0)) : TanhSlope(e, call.in(0)))};
  };
  op.samples = [] {
    auto samples = UnaryEdgeSamples();
    for (const core::Shape& shape : {core::Shape{1}, {7}, {2, 33}})
      samples.push_back({{{shape, ir::Fill::Normal(0, 2)}}, {{"approximate", "tanh"}}});
    samples.push_back({{{{9}, ir::Fill::Values({0, 1, -1, 5, -5, 40, -40, 100, -100})}},
                       {{"approximate", "tanh"}},
                       false});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
