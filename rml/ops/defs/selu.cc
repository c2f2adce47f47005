// y = gamma (x > 0 ? x : alpha (eˣ - 1))
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Selu() {
  ir::OpDef op = UnaryWith(
      "selu",
      "`y = gamma x` where x is positive, else `gamma alpha (eˣ - 1)`; the defaults keep mean 0 "
      "and variance 1 (Klambauer et al. 2017).",
      {{"alpha", 1.6732632423543772}, {"gamma", 1.0507009873554805}},
      [](const ir::OpCall& call) -> UnaryFunction {
        return [alpha = call.number("alpha"), gamma = call.number("gamma")](double x) {
          return gamma * (x > 0 ? x : alpha * std::expm1(x));
        };
      });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const double alpha = call.call().number("alpha");
    const ir::Value g = e.mul(call.grad(0), call.call().number("gamma"));
    const ir::Value positive = e.one("greater", {call.in(0), e.like(call.in(0), 0)});
    const ir::Value slope = e.mul(e.exp(NegativePart(e, call.in(0))), alpha);
    return {e.where(positive, g, e.mul(g, slope))};
  };
  op.samples = [] {
    auto samples = UnaryEdgeSamples();
    samples.push_back({{{{7}}}, {{"alpha", 0.5}, {"gamma", 2.0}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
