// y = not x
#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef LogicalNot() {
  ir::OpDef op = Unary("logical_not", "Negation of booleans: `y = not x`.", nullptr);
  op.types = {{"T", ir::kBools}};
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto x = call.in<uint8_t>(0);
    const auto y = call.out<uint8_t>(0);
    for (int64_t i = 0; i < y.size(); ++i) y[i] = x[i] != 0 ? 0 : 1;
    return {};
  };
  op.no_gradient = true;
  op.samples = [] { return UnarySamples(ir::Fill::Uniform(0, 1)); };
  return op;
}

}  // namespace rml::ops
