// y = max(x, 0)
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Relu() {
  ir::OpDef op = Unary(
      "relu", "Rectifier: `y = max(x, 0)`. NaN stays NaN; the gradient at 0 is 0.",
      [](double x) { return x > 0 || std::isnan(x) ? x : 0; },
      [](int64_t x) -> int64_t { return x > 0 ? x : 0; }, [](uint64_t x) -> uint64_t { return x; });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value zero = e.like(call.grad(0), 0);
    const ir::Value positive = e.one("greater", {call.in(0), zero});
    return {e.where(positive, call.grad(0), zero)};
  };
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

}  // namespace rml::ops
