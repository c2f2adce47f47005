// y = 1 / √x
#include <cmath>

#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef Rsqrt() {
  ir::OpDef op = Unary("rsqrt", "Reciprocal square root: `y = 1 / √x`.",
                       [](double x) { return 1 / std::sqrt(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.mul(e.mul(call.grad(0), -0.5), e.div(call.out(0), call.in(0)))};
  };
  op.samples = [] { return UnarySamples(ir::Fill::Uniform(0.1, 4)); };
  return op;
}

}  // namespace rml::ops
