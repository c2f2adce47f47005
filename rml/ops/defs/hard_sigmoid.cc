// y = max(0, min(1, alpha x + beta))
#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef HardSigmoid() {
  ir::OpDef op = UnaryWith(
      "hard_sigmoid",
      "`y = max(0, min(1, alpha x + beta))`. The defaults are ONNX's; PyTorch's alpha is 1/6.",
      {{"alpha", 0.2}, {"beta", 0.5}}, [](const ir::OpCall& call) -> UnaryFunction {
        return [alpha = call.number("alpha"), beta = call.number("beta")](double x) {
          const double y = alpha * x + beta;
          return y < 0 ? 0 : y > 1 ? 1 : y;
        };
      });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value& y = call.out(0);
    const ir::Value moving = e.one(
        "logical_and", {e.one("greater", {y, e.like(y, 0)}), e.one("less", {y, e.like(y, 1)})});
    const ir::Value g = e.mul(call.grad(0), call.call().number("alpha"));
    return {e.where(moving, g, e.like(g, 0))};
  };
  op.samples = [] {
    auto samples = UnaryEdgeSamples(ir::Fill::Normal(0, 3));
    samples.push_back({{{{7}}}, {{"alpha", 1.0 / 6}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
