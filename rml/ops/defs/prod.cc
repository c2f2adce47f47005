// y = Π x over axes
#include "rml/ops/reduce.h"

namespace rml::ops {
namespace {

core::Status ReferenceProd(ir::RefCall& call) {
  return call.VisitNumber(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    for (T& value : y) value = 1;
    return ForReduction(call, [&](int64_t out, int64_t in) {
      if constexpr (std::is_same_v<T, int64_t>) {
        y[out] = ir::WrapMul(y[out], x[in]);
      } else {
        y[out] *= x[in];
      }
    });
  });
}

// For each axis in turn, the product of all others is that of those before and those after: no
// division, so zeros do no harm, nor in gradients of gradients.
ir::Values VjpProd(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Ints axes = *call.call().axes("axes", call.in(0).rank());
  if (axes.empty()) return {call.grad(0)};
  std::vector<ir::Value> steps = {call.in(0)};
  for (size_t i = 0; i + 1 < axes.size(); ++i)
    steps.push_back(
        e.one("prod", {steps.back()}, {{"axes", ir::Ints{axes[i]}}, {"keep_dims", true}}));
  ir::Value grad = Kept(call, e, call.grad(0));
  for (size_t i = axes.size(); i-- > 0;) {
    const auto others = [&](bool reverse) {
      return e.one("cumprod", {steps[i]},
                   {{"axis", axes[i]}, {"exclusive", true}, {"reverse", reverse}});
    };
    grad = e.mul(grad, e.mul(others(false), others(true)));
  }
  return {grad};
}

}  // namespace

ir::OpDef Prod() {
  ir::OpDef op = Reduction(ir::Combine::kProd);
  op.name = "prod";
  op.doc = "Product over `axes` (none: all). Of no elements: 1. Integers wrap.";
  op.types = {{"T", ir::kNumbers}};
  op.reference = ReferenceProd;
  op.vjp = VjpProd;
  op.samples = [] {
    auto samples = ReductionSamples();
    samples.push_back({{{{2, 0}}}, {{"axes", ir::Ints{1}}}});
    samples.push_back({{{{3, 4}, ir::Fill::Values({2, 0.5, -1, 3, 0, 2, 2, 1, 0, 1, 0, 2})}},
                       {{"axes", ir::Ints{1}}}});
    samples.push_back({{{{2, 3}, ir::Fill::Values({2, 3, 0.5, -1, 0, 4})}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
