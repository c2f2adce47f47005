// y = x > 0 ? x : alpha (e^(x / alpha) - 1)
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Celu() {
  ir::OpDef op = UnaryWith(
      "celu",
      "`y = x` where x is positive, else `alpha (e^(x / alpha) - 1)`: elu with a continuous "
      "derivative (Barron 2017).",
      {{"alpha", 1.0}}, [](const ir::OpCall& call) -> UnaryFunction {
        return [alpha = call.number("alpha")](double x) {
          return x > 0 ? x : alpha * std::expm1(x / alpha);
        };
      });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    const double alpha = call.number("alpha");
    if (!(alpha > 0)) return core::InvalidArgument("alpha is ", alpha, ", expected alpha > 0");
    return InferLikeFirst(call, outputs);
  };
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const double alpha = call.call().number("alpha");
    // Where x is positive this is e⁰.
    const ir::Value slope = e.exp(e.mul(NegativePart(e, call.in(0)), 1 / alpha));
    return {e.mul(call.grad(0), slope)};
  };
  op.samples = [] {
    auto samples = UnaryEdgeSamples();
    samples.push_back({{{{7}}}, {{"alpha", 0.3}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
