// y = artanh x
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Atanh() {
  ir::OpDef op = Unary("atanh", "Inverse hyperbolic tangent; outside [-1, 1] NaN.",
                       [](double x) { return std::atanh(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    // 1 - x² as (1 - x)(1 + x): exact beside the ends.
    return {e.div(e.div(call.grad(0), e.add(e.neg(call.in(0)), 1)), e.add(call.in(0), 1))};
  };
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Uniform(-0.9, 0.9)); };
  return op;
}

}  // namespace rml::ops
