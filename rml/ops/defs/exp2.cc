// y = 2ˣ
#include <cmath>
#include <numbers>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Exp2() {
  ir::OpDef op = Unary("exp2", "Power of two: `y = 2ˣ`.", [](double x) { return std::exp2(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.mul(call.grad(0), e.mul(call.out(0), std::numbers::ln2))};
  };
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

}  // namespace rml::ops
