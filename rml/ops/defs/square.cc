// y = x²
#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Square() {
  ir::OpDef op = Unary(
      "square", "Square: `y = x²`. Integers wrap.", [](double x) { return x * x; },
      [](int64_t x) -> int64_t { return ir::WrapMul(x, x); },
      [](uint64_t x) -> uint64_t { return x * x; });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.mul(e.mul(call.grad(0), 2), call.in(0))};
  };
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

}  // namespace rml::ops
