// y = x tanh(ln(1 + eˣ))
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Mish() {
  ir::OpDef op = Unary("mish", "`y = x tanh(softplus(x))` (Misra 2019).", [](double x) {
    const double softplus = (x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x)));
    return x * std::tanh(softplus);
  });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value t = e.one("tanh", {e.one("softplus", {call.in(0)})});
    const ir::Value slope = e.mul(e.add(e.neg(e.mul(t, t)), 1), e.one("sigmoid", {call.in(0)}));
    return {e.mul(call.grad(0), e.add(t, e.mul(call.in(0), slope)))};
  };
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

}  // namespace rml::ops
