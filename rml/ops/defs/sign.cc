// y = -1, 0 or 1
#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Sign() {
  ir::OpDef op = Unary(
      "sign", "Sign: -1, 0 or 1; zeros keep theirs, and NaN stays NaN.",
      [](double x) { return x > 0   ? 1.0
                            : x < 0 ? -1.0
                                    : x; },
      [](int64_t x) -> int64_t { return (x > 0 ? 1 : 0) - (x < 0 ? 1 : 0); },
      [](uint64_t x) -> uint64_t { return x > 0 ? 1 : 0; });
  op.no_gradient = true;
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

}  // namespace rml::ops
