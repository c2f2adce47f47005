// y = a and b
#include <functional>

#include "rml/ops/compare_op.h"

namespace rml::ops {

ir::OpDef LogicalAnd() {
  ir::OpDef op = Comparison<std::logical_and<>>("logical_and", "Both, elementwise: `y = a and b`.");
  op.types = {{"T", ir::kBools}};
  op.samples = [] { return BinarySamples(ir::Fill::Uniform(0, 1), ir::Fill::Uniform(0, 1)); };
  return op;
}

}  // namespace rml::ops
