// y = ln x
#include <cmath>

#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef Log() {
  ir::OpDef op =
      Unary("log", "Natural logarithm: `y = ln x`.", [](double x) { return std::log(x); });
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.div(call.grad(0), call.in(0))};
  };
  op.samples = [] { return UnarySamples(ir::Fill::Uniform(0.1, 4)); };
  return op;
}

}  // namespace rml::ops
