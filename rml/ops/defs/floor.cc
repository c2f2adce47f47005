// y = ⌊x⌋
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Floor() {
  ir::OpDef op = Unary("floor", "The largest integer that is not above x. Its derivative is 0.",
                       [](double x) { return std::floor(x); });
  op.no_gradient = true;
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Normal(0, 5)); };
  return op;
}

}  // namespace rml::ops
