// y = cos x
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Cos() {
  ir::OpDef op =
      Unary("cos", "Cosine of an angle in radians.", [](double x) { return std::cos(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.neg(e.mul(call.grad(0), e.one("sin", {call.in(0)})))};
  };
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Normal(0, 3)); };
  return op;
}

}  // namespace rml::ops
