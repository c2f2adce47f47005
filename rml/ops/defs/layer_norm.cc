// y = (x - mean) / sqrt(var + eps) * weight + bias
#include "rml/ops/elementwise.h"
#include "rml/ops/norm.h"

namespace rml::ops {
namespace {

enum { kX, kWeight, kBias };
enum { kY, kMean, kRstd };

ir::Values DecomposeLayerNorm(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Ints axes = NormalisedAxes(call.call());
  const core::DType stat = StatType(call.in(kX).dtype());
  const ir::Value x = e.cast(call.in(kX), stat);
  const ir::Value mean = e.mean(x, axes, true);
  const ir::Value centred = e.sub(x, mean);
  const ir::Value variance = e.mean(e.mul(centred, centred), axes, true);
  const ir::Value rstd = e.rsqrt(e.add(variance, call.call().number("eps")));
  ir::Value y = e.mul(centred, rstd);
  if (call.in(kWeight).defined()) y = e.mul(y, e.cast(call.in(kWeight), stat));
  if (call.in(kBias).defined()) y = e.add(y, e.cast(call.in(kBias), stat));
  return {e.cast(y, call.in(kX).dtype()), mean, rstd};
}

// With x̂ = (x - mean) · rstd, over the n normalised elements, and s, m, r the gradients of x̂, mean
// and rstd: dx = rstd · (s - mean(s) - x̂ · mean(s · x̂)) + m / n - r · rstd² · x̂ / n.
ir::Values VjpLayerNorm(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Ints axes = NormalisedAxes(call.call());
  const ir::Value& rstd = call.out(kRstd);
  const core::DType stat = rstd.dtype();
  const ir::Value normal = e.mul(e.sub(e.cast(call.in(kX), stat), call.out(kMean)), rstd);
  ir::Values grads(size_t{3});
  ir::Value dx;
  if (call.grad(kY).defined()) {
    const ir::Value dy = e.cast(call.grad(kY), stat);
    const auto to_weights = [&](int i, const ir::Value& full) {
      if (!call.needs(i)) return;
      const ir::Type type = call.in(i).type();
      grads[static_cast<size_t>(i)] = e.cast(e.sum_to(full, type.dims), type.dtype);
    };
    if (call.needs(kWeight)) to_weights(kWeight, e.mul(dy, normal));
    to_weights(kBias, dy);
    const ir::Value s = call.in(kWeight).defined() ? e.mul(dy, e.cast(call.in(kWeight), stat)) : dy;
    const ir::Value along = e.mean(e.mul(s, normal), axes, true);
    dx = e.mul(rstd, e.sub(e.sub(s, e.mean(s, axes, true)), e.mul(normal, along)));
  }
  const ir::Value n = NormCount(e, call.call(), stat);
  if (call.grad(kRstd).defined()) {
    const ir::Value along = e.div(e.mul(call.grad(kRstd), e.mul(rstd, rstd)), n);
    dx = AddGradients(e, dx, e.neg(e.mul(normal, along)));
  }
  if (call.grad(kMean).defined()) {
    dx = AddGradients(e, dx, e.broadcast(e.div(call.grad(kMean), n), call.in(kX).type().dims));
  }
  if (call.needs(kX)) grads[kX] = e.cast(dx, call.in(kX).dtype());
  return grads;
}

}  // namespace

ir::OpDef LayerNorm() {
  ir::OpDef op;
  op.name = "layer_norm";
  op.doc =
      "`y = (x - mean) / sqrt(var + eps) · weight + bias` over the axes from `axis` on (Ba et al. "
      "2016), which `weight` and `bias` have; var is the biased variance, and `rstd` 1 / sqrt(var "
      "+ eps).";
  op.inputs = {{"x"}, {"weight", "S", ir::Arity::kOptional}, {"bias", "S", ir::Arity::kOptional}};
  op.outputs = {
      {"y"}, {"mean", "*", ir::OutputKind::kSaved}, {"rstd", "*", ir::OutputKind::kSaved}};
  op.types = {{"T", ir::kFloats}, {"S", ir::kFloats}};
  op.attributes = {{"axis", -1}, {"eps", 1e-5}};
  op.axes = ir::AxesRule(NormAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) { return InferNorm(call, 2, outputs); };
  op.decompose = DecomposeLayerNorm;
  op.vjp = VjpLayerNorm;
  op.cost = [](const ir::OpCall& call) { return PassCost(call, 7); };
  op.samples = [] {
    const ir::SampleInput none = {{}, ir::Fill::None()};
    return std::vector<ir::Sample>{
        {{{{1}}, {{1}}, {{1}}}},
        {{{{3, 7}}, {{7}}, {{7}}}},
        {{{{2, 33}}}},
        {{{{4, 5}}, {{5}}}},
        {{{{4, 5}}, none, {{5}}}},
        {{{{2, 3, 5}}, {{3, 5}}, {{3, 5}}}, {{"axis", -2}, {"eps", 1e-3}}},
        {{{{2, 17}, ir::Fill::Normal(50, 3)}, {{17}}, {{17}}}},
        {{{{0, 4}}, {{4}}, {{4}}}},
    };
  };
  op.tolerance = {1e-10, 2e-5, 1e-2, 8e-2, 0};
  return op;
}

}  // namespace rml::ops
