// y = a · b
#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef Mul() {
  ir::OpDef op = Binary(
      "mul", "Product, elementwise: `y = a * b`. Integers wrap.",
      [](double a, double b) { return a * b; }, ir::WrapMul,
      [](uint64_t a, uint64_t b) { return a * b; });
  op.vjp = [](ir::ExprCall& call) {
    return BinaryGradients(
        call, [&](const Emit& e) { return e.mul(call.grad(0), call.in(1)); },
        [&](const Emit& e) { return e.mul(call.grad(0), call.in(0)); });
  };
  return op;
}

}  // namespace rml::ops
