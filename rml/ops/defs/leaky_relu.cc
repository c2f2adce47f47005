// y = x > 0 ? x : alpha x
#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef LeakyRelu() {
  ir::OpDef op =
      UnaryWith("leaky_relu", "`y = x` where x is positive, else `alpha x`.", {{"alpha", 0.01}},
                [](const ir::OpCall& call) -> UnaryFunction {
                  return [alpha = call.number("alpha")](double x) { return x > 0 ? x : alpha * x; };
                });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value positive = e.one("greater", {call.in(0), e.like(call.in(0), 0)});
    const double alpha = call.call().number("alpha");
    return {e.where(positive, call.grad(0), e.mul(call.grad(0), alpha))};
  };
  op.samples = [] {
    auto samples = UnaryEdgeSamples();
    samples.push_back({{{{7}}}, {{"alpha", 0.3}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
