// y = ln(1 + e^(beta x)) / beta
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Softplus() {
  ir::OpDef op = UnaryWith(
      "softplus", "`y = ln(1 + e^(beta x)) / beta`, without overflow and without a threshold.",
      {{"beta", 1.0}}, [](const ir::OpCall& call) -> UnaryFunction {
        return [beta = call.number("beta")](double x) {
          const double t = beta * x;
          return ((t > 0 ? t : 0) + std::log1p(std::exp(-std::abs(t)))) / beta;
        };
      });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    if (call.number("beta") == 0) return core::InvalidArgument("beta is 0");
    return InferLikeFirst(call, outputs);
  };
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value scaled = e.mul(call.in(0), call.call().number("beta"));
    return {e.mul(call.grad(0), e.one("sigmoid", {scaled}))};
  };
  op.samples = [] {
    auto samples = UnaryEdgeSamples();
    samples.push_back({{{{7}}}, {{"beta", 2.5}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
