// Channels as blocks of the plane.
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status InferDepthToSpace(const ir::OpCall& call, ir::Types* outputs) {
  const int64_t block = call.integer("block");
  const std::string& mode = call.text("mode");
  if (mode != "dcr" && mode != "crd")
    return core::InvalidArgument("mode is \"", mode, "\", expected dcr or crd");
  if (call.rank(0) != 4)
    return core::InvalidArgument("x has ", call.rank(0), " dimensions, expected 4");
  if (block < 1) return core::InvalidArgument("block is ", block, ", expected at least 1");
  const ir::Dims& x = call.input(0).dims;
  const ir::Dim square = ir::Dim(block) * ir::Dim(block);
  const ir::Dim channels = ExactDiv(x[1], square);
  if (!channels.valid()) {
    return core::InvalidArgument(x[1].ToString(), " channels are no whole number of squares of ",
                                 block, " by ", block);
  }
  outputs->push_back(
      {call.dtype(0), {x[0], channels, x[2] * ir::Dim(block), x[3] * ir::Dim(block)}});
  return {};
}

ir::Values DecomposeDepthToSpace(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Dims x = call.in(0).type().dims;
  const ir::Dim block = call.call().integer("block");
  const ir::Dim channels = ExactDiv(x[1], block * block);
  const bool depth_first = call.call().text("mode") == "dcr";
  const ir::Value parts = depth_first
                              ? e.reshape(call.in(0), {x[0], block, block, channels, x[2], x[3]})
                              : e.reshape(call.in(0), {x[0], channels, block, block, x[2], x[3]});
  const ir::Value moved =
      e.transpose(parts, depth_first ? ir::Ints{0, 3, 4, 1, 5, 2} : ir::Ints{0, 1, 4, 2, 5, 3});
  return {e.reshape(moved, {x[0], channels, x[2] * block, x[3] * block})};
}

}  // namespace

ir::OpDef DepthToSpace() {
  ir::OpDef op;
  op.name = "depth_to_space";
  op.doc =
      "`x` [batch, channels, height, width] with groups of channels as `block` by block squares. "
      "Element [i, j] of the square of channel c comes, in `mode` dcr, from channel (i · block + "
      "j) · C + c, where C is the number of channels that there will be (the inverse of "
      "`space_to_depth`); in mode crd from channel (c · block + i) · block + j (PyTorch's "
      "pixel_shuffle). As in ONNX.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"block", ir::RequiredAttr{int64_t{1}}}, {"mode", "dcr"}};
  op.axes = ir::AxesRule([](const ir::OpCall&) -> core::Expected<ir::Axes> {
    return ir::Axes{FreeAxis(0, {0}, {0})};
  });
  op.infer = InferDepthToSpace;
  op.decompose = DecomposeDepthToSpace;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const char* mode : {"dcr", "crd"}) {
      samples.push_back({{{{1, 4, 1, 1}}}, {{"block", 2}, {"mode", mode}}});
      samples.push_back({{{{2, 12, 2, 3}}}, {{"block", 2}, {"mode", mode}}});
      samples.push_back({{{{3, 9, 1, 5}}}, {{"block", 3}, {"mode", mode}}});
    }
    samples.push_back({{{{2, 8, 0, 3}}}, {{"block", 2}}});
    return samples;
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
