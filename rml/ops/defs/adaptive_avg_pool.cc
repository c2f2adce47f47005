// The means of windows that together cover the axis.
#include "rml/ops/elementwise.h"
#include "rml/ops/resample.h"

namespace rml::ops {
namespace {

core::Status InferAdaptiveAvgPool(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const ir::Dims dims, WithSizes(call.input(0).dims, call.attr<ir::Dims>("sizes")));
  RML_TRY(CheckNotEmpty(call.input(0).dims, dims));
  outputs->push_back({call.dtype(0), dims});
  return {};
}

core::Status ReferenceAdaptiveAvgPool(ir::RefCall& call) {
  const auto from = call.in<double>(0);
  const auto to = call.out<double>(0);
  std::vector<AxisTaps> taps;
  for (int axis = 2; axis < from.rank(); ++axis)
    taps.push_back(AdaptiveTaps(from.dim(axis), to.dim(axis)));
  ForTaps(from.shape(), to.shape(), taps,
          [&](int64_t y, int64_t x, double weight) { to[y] += weight * from[x]; });
  return {};
}

}  // namespace

ir::OpDef AdaptiveAvgPool() {
  ir::OpDef op;
  op.name = "adaptive_avg_pool";
  op.doc =
      "Means of windows of `x` [batch, channels, place…], as many as `sizes` says for each spatial "
      "axis: "
      "window i of n covers the places from ⌊i · size / n⌋ to ⌈(i + 1) · size / n⌉ - 1.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.attributes = {{"sizes", ir::RequiredAttr{ir::Dims()}}};
  op.axes = ir::AxesRule(ResampleAxes);
  op.infer = InferAdaptiveAvgPool;
  op.reference = ReferenceAdaptiveAvgPool;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    return {Emit(call.b()).one("adaptive_avg_pool_grad", {call.grad(0)},
                               {{"sizes", SizesOf(call.in(0).type().dims)}})};
  };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    const std::vector<std::pair<core::Shape, core::Shape>> cases = {
        {{1, 1, 1}, {1, 1, 1}},
        {{2, 3, 7}, {2, 3, 3}},
        {{1, 2, 5, 4}, {1, 2, 2, 4}},
        {{1, 2, 3}, {1, 2, 5}},
        {{1, 1, 3, 2, 5}, {1, 1, 2, 1, 3}},
        {{0, 2, 4}, {0, 2, 2}}};
    for (const auto& [x, y] : cases) samples.push_back({{{x}}, {{"sizes", SizesOf(y)}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
