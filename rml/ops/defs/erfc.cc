// y = 1 - erf x
#include <cmath>
#include <numbers>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Erfc() {
  ir::OpDef op =
      Unary("erfc", "Complement of the error function: `y = 1 - erf x`, exact where it is small.",
            [](double x) { return std::erfc(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value bell = e.exp(e.neg(e.mul(call.in(0), call.in(0))));
    return {e.mul(call.grad(0), e.mul(bell, -2 * std::numbers::inv_sqrtpi))};
  };
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

}  // namespace rml::ops
