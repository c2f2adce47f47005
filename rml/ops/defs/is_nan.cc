// y = whether x is NaN
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef IsNan() {
  return Predicate("is_nan", "Whether an element is not a number.",
                   [](double x) { return std::isnan(x); });
}

}  // namespace rml::ops
