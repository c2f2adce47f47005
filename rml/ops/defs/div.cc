// y = a / b
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

// Towards zero, as C++, ONNX and StableHLO have it; by zero: all bits set (StableHLO). The one
// quotient that does not fit wraps.
int64_t DivideSigned(int64_t a, int64_t b) {
  if (b == 0) return -1;
  return b == -1 ? ir::WrapSub(0, a) : a / b;
}

uint64_t DivideUnsigned(uint64_t a, uint64_t b) { return b == 0 ? UINT64_MAX : a / b; }

}  // namespace

ir::OpDef Div() {
  ir::OpDef op = Binary(
      "div",
      "Quotient, elementwise: `y = a / b`. Integers divide towards zero; by zero they give -1 "
      "(unsigned: the largest).",
      [](double a, double b) { return a / b; }, DivideSigned, DivideUnsigned);
  op.vjp = [](ir::ExprCall& call) {
    return BinaryGradients(
        call, [&](const Emit& e) { return e.div(call.grad(0), call.in(1)); },
        [&](const Emit& e) { return e.neg(e.div(e.mul(call.grad(0), call.out(0)), call.in(1))); });
  };
  op.samples = [] { return BinarySamples(ir::Fill::Normal(0, 2), ir::Fill::Uniform(1, 3)); };
  return op;
}

}  // namespace rml::ops
