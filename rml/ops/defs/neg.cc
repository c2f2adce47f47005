// y = -x
#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef Neg() {
  ir::OpDef op = Unary(
      "neg", "Negation: `y = -x`. Unsigned integers wrap.", [](double x) { return -x; },
      [](int64_t x) { return ir::WrapSub(0, x); }, [](uint64_t x) { return 0 - x; });
  op.vjp = [](ir::ExprCall& call) -> ir::Values { return {Emit(call.b()).neg(call.grad(0))}; };
  return op;
}

}  // namespace rml::ops
