// y = log₁₀ x
#include <cmath>
#include <numbers>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Log10() {
  ir::OpDef op =
      Unary("log10", "Decimal logarithm: `y = log₁₀ x`.", [](double x) { return std::log10(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.div(e.mul(call.grad(0), std::numbers::log10e), call.in(0))};
  };
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Uniform(0.2, 4)); };
  return op;
}

}  // namespace rml::ops
