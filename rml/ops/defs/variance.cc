// y = Σ (x - mean)² / (n - correction) over axes
#include <algorithm>

#include "rml/ops/norm.h"
#include "rml/ops/whole_reduction.h"

namespace rml::ops {
namespace {

core::Status ReferenceVariance(ir::RefCall& call) {
  const auto x = call.in<double>(0);
  const auto y = call.out<double>(0);
  const double count = static_cast<double>(ReducedCount(call));
  std::vector<double> mean(static_cast<size_t>(y.size()));
  RML_TRY(ForReduction(call,
                       [&](int64_t out, int64_t in) { mean[static_cast<size_t>(out)] += x[in]; }));
  for (double& value : mean) value /= count;
  RML_TRY(ForReduction(call, [&](int64_t out, int64_t in) {
    const double apart = x[in] - mean[static_cast<size_t>(out)];
    y[out] += apart * apart;
  }));
  for (double& value : y) value /= std::max(count - call.call().number("correction"), 0.0);
  return {};
}

ir::Values VjpVariance(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Value x = call.in(0);
  const ir::Dims& dims = x.type().dims;
  const ir::Ints axes = *call.call().axes("axes", dims.rank());
  ir::Dim count = 1;
  for (const int64_t axis : axes) count = count * dims[static_cast<int>(axis)];
  // In f32 at least: f16 ends at 65504 elements, and 2 / n is inexact in it long before.
  const core::DType wide = StatType(x.dtype());
  const ir::Value freedom = e.add(e.size(count, wide), -call.call().number("correction"));
  const ir::Value divisor = e.one("maximum", {freedom, e.like(freedom, 0)});
  const ir::Value factor = e.div(e.like(divisor, 2), divisor);
  const ir::Value from = e.cast(x, wide);
  const ir::Value apart = axes.empty() ? e.sub(from, from) : e.sub(from, e.mean(from, axes, true));
  const ir::Value grad = e.cast(Kept(call, e, call.grad(0)), wide);
  return {e.cast(e.mul(e.mul(grad, factor), apart), x.dtype())};
}

}  // namespace

ir::OpDef Variance() {
  ir::OpDef op = WholeReduction();
  op.name = "variance";
  op.doc =
      "`y = Σ (x - mean)² / max(n - correction, 0)` over `axes` (none: all). NumPy's ddof: 0 by "
      "default, where PyTorch's is 1. Of no elements: NaN.";
  op.attributes.push_back({"correction", 0.0});
  op.reference = ReferenceVariance;
  op.vjp = VjpVariance;
  op.cost = [](const ir::OpCall& call) { return ReductionCost(call, 4); };
  op.samples = [] {
    auto samples = ReductionSamples();
    samples.push_back({{{{4, 7}}}, {{"axes", ir::Ints{1}}, {"correction", 1.0}}});
    samples.push_back({{{{4, 7}, ir::Fill::Normal(50, 1)}}, {{"correction", 0.5}}});
    samples.push_back({{{{2, 1}}}, {{"axes", ir::Ints{1}}, {"correction", 1.0}}, false});
    samples.push_back({{{{2, 0}}}, {{"axes", ir::Ints{1}}}, false});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
