// The gradient of adaptive_avg_pool.
#include "rml/ops/elementwise.h"
#include "rml/ops/resample.h"

namespace rml::ops {
namespace {

core::Status InferAdaptiveAvgPoolGrad(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const ir::Dims dims, WithSizes(call.input(0).dims, call.attr<ir::Dims>("sizes")));
  RML_TRY(CheckNotEmpty(dims, call.input(0).dims));
  outputs->push_back({call.dtype(0), dims});
  return {};
}

core::Status ReferenceAdaptiveAvgPoolGrad(ir::RefCall& call) {
  const auto from = call.in<double>(0);
  const auto to = call.out<double>(0);
  std::vector<AxisTaps> taps;
  for (int axis = 2; axis < from.rank(); ++axis)
    taps.push_back(AdaptiveTaps(to.dim(axis), from.dim(axis)));
  ForTaps(to.shape(), from.shape(), taps,
          [&](int64_t y, int64_t x, double weight) { to[x] += weight * from[y]; });
  return {};
}

}  // namespace

ir::OpDef AdaptiveAvgPoolGrad() {
  ir::OpDef op;
  op.name = "adaptive_avg_pool_grad";
  op.doc =
      "The gradient of `adaptive_avg_pool` for an input whose spatial axes have `sizes` elements.";
  op.inputs = {{"y"}};
  op.outputs = {{"x"}};
  op.attributes = {{"sizes", ir::RequiredAttr{ir::Dims()}}};
  op.axes = ir::AxesRule(ResampleAxes);
  op.infer = InferAdaptiveAvgPoolGrad;
  op.reference = ReferenceAdaptiveAvgPoolGrad;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    return {Emit(call.b()).one("adaptive_avg_pool", {call.grad(0)},
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
    for (const auto& [x, y] : cases) samples.push_back({{{y}}, {{"sizes", SizesOf(x)}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
