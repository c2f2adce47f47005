// y = x / (1 + |x|)
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Softsign() {
  ir::OpDef op =
      Unary("softsign", "`y = x / (1 + |x|)`.", [](double x) { return x / (1 + std::abs(x)); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value divisor = e.add(e.one("abs", {call.in(0)}), 1);
    return {e.div(e.div(call.grad(0), divisor), divisor)};
  };
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

}  // namespace rml::ops
