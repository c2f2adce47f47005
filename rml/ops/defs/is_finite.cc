// y = whether x is a number, and not infinite
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef IsFinite() {
  return Predicate("is_finite", "Whether an element is neither infinite nor NaN.",
                   [](double x) { return std::isfinite(x); });
}

}  // namespace rml::ops
