// Normalisation of each channel of each example.
#include "rml/ops/elementwise.h"
#include "rml/ops/norm.h"

namespace rml::ops {
namespace {

ir::Values DecomposeInstanceNorm(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Type x = call.in(0).type();
  const ir::Value normal = e.one("layer_norm", {e.cast(call.in(0), StatType(x.dtype))},
                                 {{"axis", 2}, {"eps", call.call().number("eps")}});
  return {e.cast(ScaleChannels(e, normal, call.in(1), call.in(2)), x.dtype)};
}

core::Expected<ir::Axes> ResolveInstanceNorm(const ir::OpCall& call) {
  std::vector<int> batch(static_cast<size_t>(call.inputs()), -1);
  std::vector<int> channels = batch;
  for (int i = 1; i < call.inputs(); ++i) channels[static_cast<size_t>(i)] = call.has(i) ? 0 : -1;
  batch[0] = 0;
  channels[0] = 1;
  return ir::Axes{{"batch", ir::AxisRole::kFree, ir::Combine::kSum, batch, {0}},
                  {"channels", ir::AxisRole::kFree, ir::Combine::kSum, channels, {1}}};
}

}  // namespace

ir::OpDef InstanceNorm() {
  ir::OpDef op;
  op.name = "instance_norm";
  op.doc =
      "Normalises each channel of each example of `x` [batch, channels, place…] over its places "
      "(Ulyanov et al. 2016); `weight` and `bias` hold a number for each channel.";
  op.inputs = {{"x"}, {"weight", "S", ir::Arity::kOptional}, {"bias", "S", ir::Arity::kOptional}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kFloats}, {"S", ir::kFloats}};
  op.attributes = {{"eps", 1e-5}};
  op.axes = ir::AxesRule(ResolveInstanceNorm);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(CheckChannels(call));
    if (call.rank(0) < 3) return core::InvalidArgument("x has 2 dimensions, expected at least 3");
    return InferLikeFirst(call, outputs);
  };
  op.decompose = DecomposeInstanceNorm;
  op.samples = [] {
    const ir::SampleInput none = {{}, ir::Fill::None()};
    return std::vector<ir::Sample>{
        {{{{2, 3, 5}}, {{3}}, {{3}}}},
        {{{{1, 2, 3, 4}}}},
        {{{{2, 4, 7}}, none, {{4}}}, {{"eps", 1e-3}}},
        {{{{0, 2, 3}}, {{2}}, {{2}}}},
    };
  };
  op.tolerance = {1e-10, 2e-5, 1e-2, 8e-2, 0};
  return op;
}

}  // namespace rml::ops
