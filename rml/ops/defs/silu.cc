// y = x / (1 + e⁻ˣ)
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Silu() {
  ir::OpDef op =
      Unary("silu", "Sigmoid-weighted unit, also called swish: `y = x σ(x)` (Elfwing et al. 2017).",
            [](double x) { return x / (1 + std::exp(-x)); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value s = e.one("sigmoid", {call.in(0)});
    const ir::Value rest = e.one("sigmoid", {e.neg(call.in(0))});  // 1 - s, exact
    return {e.mul(call.grad(0), e.mul(s, e.add(e.mul(call.in(0), rest), 1)))};
  };
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

}  // namespace rml::ops
