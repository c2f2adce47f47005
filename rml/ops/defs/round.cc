// y = x to the nearest integer
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef Round() {
  ir::OpDef op =
      Unary("round", "The nearest integer; halves go to the even one. Its derivative is 0.",
            [](double x) { return std::nearbyint(x); });
  op.no_gradient = true;
  op.samples = [] { return UnaryEdgeSamples(ir::Fill::Normal(0, 5)); };
  return op;
}

}  // namespace rml::ops
