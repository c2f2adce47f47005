// y = min(a, b)
#include "rml/ops/extremes.h"

namespace rml::ops {

ir::OpDef Minimum() {
  ir::OpDef op = Binary(
      "minimum",
      "The smaller one, elementwise: `y = min(a, b)`. NaN in either gives NaN; where both are "
      "equal, each has half of the gradient.",
      Smaller<double>, Smaller<int64_t>, Smaller<uint64_t>);
  op.vjp = [](ir::ExprCall& call) { return ExtremeGradients(call, "less"); };
  op.samples = ExtremeSamples;
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
