// y = a or b
#include <functional>

#include "rml/ops/compare_op.h"

namespace rml::ops {

ir::OpDef LogicalOr() {
  ir::OpDef op =
      Comparison<std::logical_or<>>("logical_or", "Either or both, elementwise: `y = a or b`.");
  op.types = {{"T", ir::kBools}};
  op.samples = [] { return BinarySamples(ir::Fill::Uniform(0, 1), ir::Fill::Uniform(0, 1)); };
  return op;
}

}  // namespace rml::ops
