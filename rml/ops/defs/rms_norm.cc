// y = x / sqrt(mean(x²) + eps) * weight
#include "rml/ops/elementwise.h"
#include "rml/ops/norm.h"

namespace rml::ops {
namespace {

enum { kX, kWeight };
enum { kY, kRstd };

ir::Values DecomposeRmsNorm(ir::ExprCall& call) {
  const Emit e(call.b());
  const core::DType stat = StatType(call.in(kX).dtype());
  const ir::Value x = e.cast(call.in(kX), stat);
  const ir::Value squares = e.mean(e.mul(x, x), NormalisedAxes(call.call()), true);
  const ir::Value rstd = e.rsqrt(e.add(squares, call.call().number("eps")));
  ir::Value y = e.mul(x, rstd);
  if (call.in(kWeight).defined()) y = e.mul(y, e.cast(call.in(kWeight), stat));
  return {e.cast(y, call.in(kX).dtype()), rstd};
}

// With x̂ = x · rstd, over the n normalised elements, s the gradient of x̂ and r that of rstd:
// dx = rstd · (s - x̂ · mean(s · x̂)) - r · rstd² · x̂ / n.
ir::Values VjpRmsNorm(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Ints axes = NormalisedAxes(call.call());
  const ir::Value& rstd = call.out(kRstd);
  const core::DType stat = rstd.dtype();
  const ir::Value normal = e.mul(e.cast(call.in(kX), stat), rstd);
  ir::Values grads(size_t{2});
  ir::Value dx;
  if (call.grad(kY).defined()) {
    const ir::Value dy = e.cast(call.grad(kY), stat);
    if (call.needs(kWeight)) {
      grads[kWeight] = e.cast(e.sum_to(e.mul(dy, normal), call.in(kWeight).type().dims),
                              call.in(kWeight).dtype());
    }
    const ir::Value s = call.in(kWeight).defined() ? e.mul(dy, e.cast(call.in(kWeight), stat)) : dy;
    const ir::Value along = e.mean(e.mul(s, normal), axes, true);
    dx = e.mul(rstd, e.sub(s, e.mul(normal, along)));
  }
  if (call.grad(kRstd).defined()) {
    const ir::Value n = NormCount(e, call.call(), stat);
    const ir::Value along = e.div(e.mul(call.grad(kRstd), e.mul(rstd, rstd)), n);
    dx = AddGradients(e, dx, e.neg(e.mul(normal, along)));
  }
  if (call.needs(kX)) grads[kX] = e.cast(dx, call.in(kX).dtype());
  return grads;
}

}  // namespace

ir::OpDef RmsNorm() {
  ir::OpDef op;
  op.name = "rms_norm";
  op.doc =
      "`y = x / sqrt(mean(x²) + eps) · weight` over the axes from `axis` on (Zhang and Sennrich "
      "2019), which `weight` has; `rstd` is the factor of x.";
  op.inputs = {{"x"}, {"weight", "S", ir::Arity::kOptional}};
  op.outputs = {{"y"}, {"rstd", "*", ir::OutputKind::kSaved}};
  op.types = {{"T", ir::kFloats}, {"S", ir::kFloats}};
  op.attributes = {{"axis", -1}, {"eps", 1e-5}};
  op.axes = ir::AxesRule(NormAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) { return InferNorm(call, 1, outputs); };
  op.decompose = DecomposeRmsNorm;
  op.vjp = VjpRmsNorm;
  op.cost = [](const ir::OpCall& call) { return PassCost(call, 4); };
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{1}}, {{1}}}},
        {{{{3, 7}}, {{7}}}},
        {{{{2, 33}}}},
        {{{{2, 3, 5}}, {{3, 5}}}, {{"axis", 1}, {"eps", 1e-3}}},
        {{{{2, 17}, ir::Fill::Normal(0, 100)}, {{17}}}},
        {{{{0, 4}}, {{4}}}},
        {{{{3, 4}, ir::Fill::Values({0})}, {{4}}}},
    };
  };
  op.tolerance = {1e-10, 2e-5, 1e-2, 8e-2, 0};
  return op;
}

}  // namespace rml::ops
