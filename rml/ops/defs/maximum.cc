// y = max(a, b)
#include "rml/ops/extremes.h"

namespace rml::ops {

ir::OpDef Maximum() {
  ir::OpDef op = Binary(
      "maximum",
      "The larger one, elementwise: `y = max(a, b)`. NaN in either gives NaN; where both are "
      "equal, each has half of the gradient.",
      Larger<double>, Larger<int64_t>, Larger<uint64_t>);
  op.vjp = [](ir::ExprCall& call) { return ExtremeGradients(call, "greater"); };
  op.samples = ExtremeSamples;
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
