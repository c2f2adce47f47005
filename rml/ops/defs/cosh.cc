// y = (eˣ + e⁻ˣ) / 2
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Cosh() {
  ir::OpDef op = Unary("cosh", "Hyperbolic cosine.", [](double x) { return std::cosh(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.mul(call.grad(0), e.one("sinh", {call.in(0)}))};
  };
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

}  // namespace rml::ops
