// y = ln(1 + x)
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Log1p() {
  ir::OpDef op = Unary("log1p", "`y = ln(1 + x)`, exact beside 0; below -1 NaN.",
                       [](double x) { return std::log1p(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.div(call.grad(0), e.add(call.in(0), 1))};
  };
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Uniform(-0.8, 3)); };
  return op;
}

}  // namespace rml::ops
