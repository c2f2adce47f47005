// y = a >= b
#include <functional>

#include "rml/ops/compare_op.h"

namespace rml::ops {

ir::OpDef GreaterEqual() {
  return Comparison<std::greater_equal<>>(
      "greater_equal", "Comparison, elementwise: `y = a >= b`. Comparisons with NaN are IEEE's.");
}

}  // namespace rml::ops
