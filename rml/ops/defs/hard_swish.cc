// y = x max(0, min(1, x / 6 + 1/2))
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef HardSwish() {
  ir::OpDef op = Unary("hard_swish", "`y = x max(0, min(1, x / 6 + 1/2))` (Howard et al. 2019).",
                       [](double x) {
                         const double gate = x / 6 + 0.5;
                         return gate <= 0 ? 0 : gate >= 1 ? x : x * gate;
                       });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value x = call.in(0);
    const ir::Value gate = e.one("hard_sigmoid", {x}, {{"alpha", 1.0 / 6}});
    const ir::Value moving = e.one(
        "logical_and", {e.one("greater", {x, e.like(x, -3)}), e.one("less", {x, e.like(x, 3)})});
    const ir::Value slope = e.where(moving, e.mul(x, 1.0 / 6), e.like(x, 0));
    return {e.mul(call.grad(0), e.add(gate, slope))};
  };
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Normal(0, 3)); };
  return op;
}

}  // namespace rml::ops
