// y = 1 / x
#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Reciprocal() {
  ir::OpDef op = Unary("reciprocal", "Reciprocal: `y = 1 / x`.", [](double x) { return 1 / x; });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.neg(e.mul(call.grad(0), e.mul(call.out(0), call.out(0))))};
  };
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Uniform(0.5, 3)); };
  return op;
}

}  // namespace rml::ops
