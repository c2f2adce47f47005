// y = Σ x over axes
#include "rml/ops/reduce.h"

namespace rml::ops {

ir::OpDef Sum() {
  ir::OpDef op = Reduction(ir::Combine::kSum);
  op.name = "sum";
  op.doc = "Sum over `axes` (none: all). Of no elements: 0. Integers wrap.";
  op.types = {{"T", ir::kNumbers}};
  op.reference = [](ir::RefCall& call) -> core::Status {
    return call.VisitNumber(0, [&](auto zero) {
      using T = decltype(zero);
      const auto x = call.in<T>(0);
      const auto y = call.out<T>(0);
      return ForReduction(call, [&](int64_t out, int64_t in) {
        if constexpr (std::is_same_v<T, int64_t>) {
          y[out] = ir::WrapAdd(y[out], x[in]);
        } else {
          y[out] += x[in];
        }
      });
    });
  };
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.broadcast(Kept(call, e, call.grad(0)), call.in(0).type().dims)};
  };
  op.samples = [] {
    auto samples = ReductionSamples();
    samples.push_back({{{{2, 0}}}, {{"axes", ir::Ints{1}}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
