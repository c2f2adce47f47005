// x put repeats[axis] times one behind the other, along every axis.
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status InferTile(const ir::OpCall& call, ir::Types* outputs) {
  const ir::Ints& repeats = call.ints("repeats");
  if (repeats.size() != static_cast<size_t>(call.rank(0))) {
    return core::InvalidArgument("repeats has ", repeats.size(), " elements, and x ", call.rank(0),
                                 " dimensions");
  }
  ir::Type type = call.input(0);
  for (int axis = 0; axis < type.rank(); ++axis) {
    const int64_t times = repeats[static_cast<size_t>(axis)];
    if (times < 0) return core::InvalidArgument("axis ", axis, " is repeated ", times, " times");
    type.dims[axis] = type.dims[axis] * ir::Dim(times);
  }
  outputs->push_back(type);
  return {};
}

core::Status ReferenceTile(ir::RefCall& call) {
  const core::Shape& from = call.in_shape(0);
  return CopyElements(call, [&](Coordinates& at) {
    for (int axis = 0; axis < from.rank(); ++axis) at[static_cast<size_t>(axis)] %= from[axis];
    return true;
  });
}

ir::Values VjpTile(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Dims x = call.in(0).type().dims;
  const ir::Ints& repeats = call.call().ints("repeats");
  ir::Value grad = call.grad(0);
  // One axis at a time, as [before, times, size, after]: twice as many axes may be too many.
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t times = repeats[static_cast<size_t>(axis)];
    if (times == 1) continue;
    ir::Dims dims = grad.type().dims;
    ir::Dim before = 1;
    ir::Dim after = 1;
    for (int i = 0; i < axis; ++i) before = before * dims[i];
    for (int i = axis + 1; i < dims.rank(); ++i) after = after * dims[i];
    grad = e.sum(e.reshape(grad, {before, times, x[axis], after}), {1});
    dims[axis] = x[axis];
    grad = e.reshape(grad, dims);
  }
  return {grad};
}

}  // namespace

ir::OpDef Tile() {
  ir::OpDef op;
  op.name = "tile";
  op.doc =
      "`x` put `repeats[axis]` times one behind the other along every axis (as NumPy's tile and "
      "ONNX's Tile; `repeat` repeats single elements).";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"repeats", ir::RequiredAttr{ir::Ints()}}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    const ir::Ints& repeats = call.ints("repeats");
    ir::Ints whole;
    for (size_t axis = 0; axis < repeats.size(); ++axis) {
      if (repeats[axis] != 1) whole.push_back(static_cast<int64_t>(axis));
    }
    return SameAxes(call, 1, whole);
  });
  op.infer = InferTile;
  op.reference = ReferenceTile;
  op.vjp = VjpTile;
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{}}}, {{"repeats", ir::Ints()}}},
        {{{{7}}}, {{"repeats", ir::Ints{3}}}},
        {{{{2, 3}}}, {{"repeats", ir::Ints{2, 1}}}},
        {{{{2, 3, 5}}}, {{"repeats", ir::Ints{3, 1, 2}}}},
        {{{{2, 3}}}, {{"repeats", ir::Ints{0, 2}}}},
        {{{{2, 0}}}, {{"repeats", ir::Ints{1, 2}}}},
        {{{{1, 2, 1, 1, 2, 1, 1, 2}}}, {{"repeats", ir::Ints{2, 1, 1, 2, 1, 1, 2, 1}}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
