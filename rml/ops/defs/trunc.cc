// y = x without its fraction
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Trunc() {
  ir::OpDef op = Unary("trunc", "The integer part, towards zero. Its derivative is 0.",
                       [](double x) { return std::trunc(x); });
  op.no_gradient = true;
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Normal(0, 5)); };
  return op;
}

}  // namespace rml::ops
