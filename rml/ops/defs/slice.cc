// y[i, …] = x[start + i · step, …]
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"
#include "rml/ops/slicing.h"

namespace rml::ops {
namespace {

core::Status ReferenceSlice(ir::RefCall& call) {
  RML_ASSIGN(const std::vector<SliceRange> ranges, SliceRanges(call.call(), call.in_shape(0)));
  return CopyElements(call, [&](Coordinates& at) {
    for (size_t axis = 0; axis < ranges.size(); ++axis)
      at[axis] = ranges[axis].first + at[axis] * ranges[axis].step;
    return true;
  });
}

}  // namespace

ir::OpDef Slice() {
  ir::OpDef op;
  op.name = "slice";
  op.doc =
      "Every `steps`-th element of each of `axes` (none: the first ones) from `starts` up to, but "
      "not including, `ends`. As ONNX's Slice: negative places count from the end, then start and "
      "end are cut to [0, size], or with a negative step to [0, size - 1] and [-1, size - 1]; so "
      "the smallest integer as end goes back to the first element.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = SliceAttributes();
  op.axes = ir::AxesRule(SliceAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_ASSIGN(const ir::Dims dims, SliceDims(call, call.input(0).dims));
    outputs->push_back({call.dtype(0), dims});
    return {};
  };
  op.reference = ReferenceSlice;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {
        e.one("slice_scatter", {e.zeros_like(call.in(0)), call.grad(0)}, SameSlice(call.call()))};
  };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const auto& [shape, attributes] : SliceCases()) samples.push_back({{{shape}}, attributes});
    return samples;
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
