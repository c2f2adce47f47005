// y = tanh x
#include <cmath>

#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef Tanh() {
  ir::OpDef op = Unary("tanh", "Hyperbolic tangent.", [](double x) { return std::tanh(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.mul(call.grad(0), e.add(e.neg(e.mul(call.out(0), call.out(0))), 1))};
  };
  return op;
}

}  // namespace rml::ops
