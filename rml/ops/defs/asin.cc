// y = arcsin x
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Asin() {
  ir::OpDef op = Unary("asin", "Inverse sine, in [-π/2, π/2]; outside [-1, 1] NaN.",
                       [](double x) { return std::asin(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    // 1 - x² as (1 - x)(1 + x): exact beside the ends.
    const ir::Value below = e.rsqrt(e.add(e.neg(call.in(0)), 1));
    const ir::Value above = e.rsqrt(e.add(call.in(0), 1));
    return {e.mul(call.grad(0), e.mul(below, above))};
  };
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Uniform(-0.9, 0.9)); };
  return op;
}

}  // namespace rml::ops
