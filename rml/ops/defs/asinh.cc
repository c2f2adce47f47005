// y = arsinh x
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Asinh() {
  ir::OpDef op = Unary("asinh", "Inverse hyperbolic sine.", [](double x) { return std::asinh(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    // cosh y is √(x² + 1), and x² may leave a narrow dtype.
    return {e.div(call.grad(0), e.one("cosh", {call.out(0)}))};
  };
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Normal(0, 3)); };
  return op;
}

}  // namespace rml::ops
