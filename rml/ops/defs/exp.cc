// y = eˣ
#include <cmath>

#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef Exp() {
  ir::OpDef op = Unary("exp", "Exponential: `y = eˣ`.", [](double x) { return std::exp(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.mul(call.grad(0), call.out(0))};
  };
  return op;
}

}  // namespace rml::ops
