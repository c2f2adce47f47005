// y = √x
#include <cmath>

#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef Sqrt() {
  ir::OpDef op = Unary("sqrt", "Square root: `y = √x`.", [](double x) { return std::sqrt(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.div(call.grad(0), e.mul(call.out(0), 2))};
  };
  op.samples = [] { return UnarySamples(ir::Fill::Uniform(0.1, 4)); };
  return op;
}

}  // namespace rml::ops
