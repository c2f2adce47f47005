// y = 2/√π ∫₀ˣ e^(-t²) dt
#include <cmath>
#include <numbers>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Erf() {
  ir::OpDef op = Unary("erf", "Error function: `y = 2/√π ∫₀ˣ e^(-t²) dt`.",
                       [](double x) { return std::erf(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value bell = e.exp(e.neg(e.mul(call.in(0), call.in(0))));
    return {e.mul(call.grad(0), e.mul(bell, 2 * std::numbers::inv_sqrtpi))};
  };
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

}  // namespace rml::ops
