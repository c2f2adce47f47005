// Normalisation over groups of channels and all places.
#include "rml/ops/elementwise.h"
#include "rml/ops/norm.h"

namespace rml::ops {
namespace {

core::Status InferGroupNorm(const ir::OpCall& call, ir::Types* outputs) {
  RML_TRY(CheckChannels(call));
  const int64_t groups = call.integer("groups");
  if (groups < 1 || !ExactDiv(call.dim(0, 1), groups).valid()) {
    return core::InvalidArgument(call.dim(0, 1).ToString(), " channels are no multiple of ", groups,
                                 " groups");
  }
  return InferLikeFirst(call, outputs);
}

// Each group is a row of a layer normalisation: [batch, groups, channels / groups, …].
ir::Values DecomposeGroupNorm(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Type x = call.in(0).type();
  const ir::Dim groups = call.call().integer("groups");
  ir::Dims rows = x.dims;
  rows[1] = groups;
  rows.Insert(2, ExactDiv(x.dims[1], groups));
  const core::DType stat = StatType(x.dtype);
  const ir::Value normal = e.one("layer_norm", {e.cast(e.reshape(call.in(0), rows), stat)},
                                 {{"axis", 2}, {"eps", call.call().number("eps")}});
  return {e.cast(ScaleChannels(e, e.reshape(normal, x.dims), call.in(1), call.in(2)), x.dtype)};
}

}  // namespace

ir::OpDef GroupNorm() {
  ir::OpDef op;
  op.name = "group_norm";
  op.doc =
      "Normalises `x` [batch, channels, …] over each of `groups` groups of channels and all other "
      "axes but the batch (Wu and He 2018); `weight` and `bias` hold a number for each channel.";
  op.inputs = {{"x"}, {"weight", "S", ir::Arity::kOptional}, {"bias", "S", ir::Arity::kOptional}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kFloats}, {"S", ir::kFloats}};
  op.attributes = {{"groups", ir::RequiredAttr{int64_t{1}}}, {"eps", 1e-5}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    std::vector<int> inputs(static_cast<size_t>(call.inputs()), -1);
    inputs[0] = 0;
    return ir::Axes{{"batch", ir::AxisRole::kFree, ir::Combine::kSum, inputs, {0}}};
  });
  op.infer = InferGroupNorm;
  op.decompose = DecomposeGroupNorm;
  op.samples = [] {
    const ir::SampleInput none = {{}, ir::Fill::None()};
    return std::vector<ir::Sample>{
        {{{{2, 4, 5}}, {{4}}, {{4}}}, {{"groups", 2}}},
        {{{{3, 6}}, {{6}}, {{6}}}, {{"groups", 2}}},
        {{{{2, 3, 2, 3}}}, {{"groups", 1}}},
        {{{{1, 3, 7}}, none, {{3}}}, {{"groups", 3}, {"eps", 1e-3}}},
        {{{{0, 2, 3}}, {{2}}, {{2}}}, {{"groups", 2}}},
    };
  };
  op.tolerance = {1e-10, 2e-5, 1e-2, 8e-2, 0};
  return op;
}

}  // namespace rml::ops
