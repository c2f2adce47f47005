// y = a - b
#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef Sub() {
  ir::OpDef op = Binary(
      "sub", "Difference, elementwise: `y = a - b`. Integers wrap.",
      [](double a, double b) { return a - b; }, ir::WrapSub,
      [](uint64_t a, uint64_t b) { return a - b; });
  op.vjp = [](ir::ExprCall& call) {
    return BinaryGradients(
        call, [&](const Emit&) { return call.grad(0); },
        [&](const Emit& e) { return e.neg(call.grad(0)); });
  };
  return op;
}

}  // namespace rml::ops
