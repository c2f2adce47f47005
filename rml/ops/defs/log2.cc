// y = log₂ x
#include <cmath>
#include <numbers>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Log2() {
  ir::OpDef op =
      Unary("log2", "Binary logarithm: `y = log₂ x`.", [](double x) { return std::log2(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.div(e.mul(call.grad(0), std::numbers::log2e), call.in(0))};
  };
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Uniform(0.2, 4)); };
  return op;
}

}  // namespace rml::ops
