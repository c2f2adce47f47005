// y = |x|
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Abs() {
  ir::OpDef op = Unary(
      "abs",
      "Absolute value: `y = |x|`. The least signed integer stays as it is; the gradient at 0 is 0.",
      [](double x) { return std::abs(x); },
      [](int64_t x) -> int64_t { return x < 0 ? ir::WrapSub(0, x) : x; },
      [](uint64_t x) -> uint64_t { return x; });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.mul(call.grad(0), e.one("sign", {call.in(0)}))};
  };
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

}  // namespace rml::ops
