// y = ~x
#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef BitNot() {
  ir::OpDef op = Unary("bit_not", "Every bit turned: `y = ~x`. A boolean is one bit.", nullptr);
  op.types = {{"T", ir::kInts | ir::kBools}};
  op.reference = [](ir::RefCall& call) -> core::Status {
    call.VisitIn(0, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (!std::is_same_v<T, double>) {
        const auto x = call.in<T>(0);
        const auto y = call.out<T>(0);
        for (int64_t i = 0; i < y.size(); ++i) {
          if constexpr (std::is_same_v<T, uint8_t>) {
            y[i] = x[i] != 0 ? 0 : 1;
          } else {
            y[i] = ~x[i];
          }
        }
      }
    });
    return {};
  };
  op.no_gradient = true;
  op.samples = [] { return UnarySamples(ir::Fill::Normal(0, 40)); };
  return op;
}

}  // namespace rml::ops
