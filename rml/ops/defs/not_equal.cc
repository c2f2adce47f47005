// y = a != b
#include <functional>

#include "rml/ops/compare_op.h"

namespace rml::ops {

ir::OpDef NotEqual() {
  return Comparison<std::not_equal_to<>>(
      "not_equal", "Comparison, elementwise: `y = a != b`. Comparisons with NaN are IEEE's.");
}

}  // namespace rml::ops
