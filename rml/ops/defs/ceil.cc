// y = ⌈x⌉
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Ceil() {
  ir::OpDef op = Unary("ceil", "The smallest integer that is not below x. Its derivative is 0.",
                       [](double x) { return std::ceil(x); });
  op.no_gradient = true;
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Normal(0, 5)); };
  return op;
}

}  // namespace rml::ops
