// y = arcosh x
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Acosh() {
  ir::OpDef op = Unary("acosh", "Inverse hyperbolic cosine, not negative; below 1 NaN.",
                       [](double x) { return std::acosh(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    // x² - 1 as (x - 1)(x + 1): exact beside 1, and no overflow.
    const ir::Value near = e.rsqrt(e.add(call.in(0), -1));
    const ir::Value far = e.rsqrt(e.add(call.in(0), 1));
    return {e.mul(call.grad(0), e.mul(near, far))};
  };
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Uniform(1.2, 5)); };
  return op;
}

}  // namespace rml::ops
