// y = sin x
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Sin() {
  ir::OpDef op = Unary("sin", "Sine of an angle in radians.", [](double x) { return std::sin(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.mul(call.grad(0), e.one("cos", {call.in(0)}))};
  };
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Normal(0, 3)); };
  return op;
}

}  // namespace rml::ops
