// y = tan x
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Tan() {
  ir::OpDef op =
      Unary("tan", "Tangent of an angle in radians.", [](double x) { return std::tan(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.mul(call.grad(0), e.add(e.mul(call.out(0), call.out(0)), 1))};
  };
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Uniform(-1.2, 1.2)); };
  return op;
}

}  // namespace rml::ops
