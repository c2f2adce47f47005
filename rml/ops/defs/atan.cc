// y = arctan x
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Atan() {
  ir::OpDef op =
      Unary("atan", "Inverse tangent, in [-π/2, π/2].", [](double x) { return std::atan(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.div(call.grad(0), e.add(e.mul(call.in(0), call.in(0)), 1))};
  };
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Normal(0, 3)); };
  return op;
}

}  // namespace rml::ops
