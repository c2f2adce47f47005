// y = eˣ - 1
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Expm1() {
  ir::OpDef op =
      Unary("expm1", "`y = eˣ - 1`, exact beside 0.", [](double x) { return std::expm1(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    // Not y + 1, which cancels where x is far below 0.
    return {e.mul(call.grad(0), e.exp(call.in(0)))};
  };
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

}  // namespace rml::ops
