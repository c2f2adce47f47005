// y = a + b
#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef Add() {
  ir::OpDef op = Binary(
      "add", "Sum, elementwise: `y = a + b`. Integers wrap.",
      [](double a, double b) { return a + b; }, ir::WrapAdd,
      [](uint64_t a, uint64_t b) { return a + b; });
  op.vjp = [](ir::ExprCall& call) {
    const auto grad = [&](const Emit&) { return call.grad(0); };
    return BinaryGradients(call, grad, grad);
  };
  return op;
}

}  // namespace rml::ops
