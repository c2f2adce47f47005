// y = (eˣ - e⁻ˣ) / 2
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Sinh() {
  ir::OpDef op = Unary("sinh", "Hyperbolic sine.", [](double x) { return std::sinh(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.mul(call.grad(0), e.one("cosh", {call.in(0)}))};
  };
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

}  // namespace rml::ops
