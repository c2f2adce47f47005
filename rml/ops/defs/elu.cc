// y = x > 0 ? x : alpha (eˣ - 1)
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Elu() {
  ir::OpDef op =
      UnaryWith("elu", "`y = x` where x is positive, else `alpha (eˣ - 1)` (Clevert et al. 2015).",
                {{"alpha", 1.0}}, [](const ir::OpCall& call) -> UnaryFunction {
                  return [alpha = call.number("alpha")](double x) {
                    return x > 0 ? x : alpha * std::expm1(x);
                  };
                });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value& g = call.grad(0);
    const ir::Value positive = e.one("greater", {call.in(0), e.like(call.in(0), 0)});
    const ir::Value slope = e.mul(e.exp(NegativePart(e, call.in(0))), call.call().number("alpha"));
    return {e.where(positive, g, e.mul(g, slope))};
  };
  op.samples = [] {
    auto samples = UnaryEdgeSamples();
    samples.push_back({{{{7}}}, {{"alpha", 0.3}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
