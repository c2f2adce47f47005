// y = a < b
#include <functional>

#include "rml/ops/compare_op.h"

namespace rml::ops {

ir::OpDef Less() {
  return Comparison<std::less<>>(
      "less", "Comparison, elementwise: `y = a < b`. Comparisons with NaN are IEEE's.");
}

}  // namespace rml::ops
