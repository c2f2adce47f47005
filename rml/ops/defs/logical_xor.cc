// y = a or b, not both
#include <functional>

#include "rml/ops/compare_op.h"

namespace rml::ops {

ir::OpDef LogicalXor() {
  ir::OpDef op = Comparison<std::not_equal_to<>>("logical_xor",
                                                 "One but not both, elementwise: `y = a xor b`.");
  op.types = {{"T", ir::kBools}};
  op.samples = [] { return BinarySamples(ir::Fill::Uniform(0, 1), ir::Fill::Uniform(0, 1)); };
  return op;
}

}  // namespace rml::ops
