// Blocks of the plane as channels.
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status InferSpaceToDepth(const ir::OpCall& call, ir::Types* outputs) {
  const int64_t block = call.integer("block");
  if (call.rank(0) != 4)
    return core::InvalidArgument("x has ", call.rank(0), " dimensions, expected 4");
  if (block < 1) return core::InvalidArgument("block is ", block, ", expected at least 1");
  const ir::Dims& x = call.input(0).dims;
  const ir::Dim height = ExactDiv(x[2], block);
  const ir::Dim width = ExactDiv(x[3], block);
  if (!height.valid() || !width.valid()) {
    return core::InvalidArgument("a plane of ", x[2].ToString(), " by ", x[3].ToString(),
                                 " is no whole number of blocks of ", block);
  }
  outputs->push_back(
      {call.dtype(0), {x[0], x[1] * ir::Dim(block) * ir::Dim(block), height, width}});
  return {};
}

ir::Values DecomposeSpaceToDepth(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Dims x = call.in(0).type().dims;
  const ir::Dim block = call.call().integer("block");
  const ir::Dim height = ExactDiv(x[2], block);
  const ir::Dim width = ExactDiv(x[3], block);
  const ir::Value parts = e.reshape(call.in(0), {x[0], x[1], height, block, width, block});
  const ir::Value moved = e.transpose(parts, {0, 3, 5, 1, 2, 4});
  return {e.reshape(moved, {x[0], x[1] * block * block, height, width})};
}

}  // namespace

ir::OpDef SpaceToDepth() {
  ir::OpDef op;
  op.name = "space_to_depth";
  op.doc =
      "`x` [batch, channels, height, width] with each `block` by block square as channels: "
      "channel (i · block + j) · channels + c is element [i, j] of the square of channel c, as in "
      "ONNX.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"block", ir::RequiredAttr{int64_t{1}}}};
  op.axes = ir::AxesRule([](const ir::OpCall&) -> core::Expected<ir::Axes> {
    return ir::Axes{FreeAxis(0, {0}, {0})};
  });
  op.infer = InferSpaceToDepth;
  op.decompose = DecomposeSpaceToDepth;
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{1, 1, 2, 2}}}, {{"block", 2}}}, {{{{2, 3, 4, 6}}}, {{"block", 2}}},
        {{{{3, 2, 3, 9}}}, {{"block", 3}}}, {{{{2, 3, 2, 2}}}, {{"block", 1}}},
        {{{{0, 3, 4, 4}}}, {{"block", 2}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
