// y = 1 / (1 + e⁻ˣ)
#include <cmath>

#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef Sigmoid() {
  ir::OpDef op = Unary("sigmoid", "Logistic function: `y = 1 / (1 + e⁻ˣ)`.",
                       [](double x) { return 1 / (1 + std::exp(-x)); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.mul(call.grad(0), e.mul(call.out(0), e.add(e.neg(call.out(0)), 1)))};
  };
  return op;
}

}  // namespace rml::ops
