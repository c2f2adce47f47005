// y = x, and y[start + i · step, …] = updates[i, …]
#include <algorithm>

#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"
#include "rml/ops/slicing.h"

namespace rml::ops {
namespace {

core::Status InferSliceScatter(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const ir::Dims dims, SliceDims(call, call.input(0).dims));
  if (!(call.input(1).dims == dims)) {
    return core::InvalidArgument("updates are ", call.input(1).dims.ToString(), ", and the slice ",
                                 dims.ToString());
  }
  outputs->push_back(call.input(0));
  return {};
}

core::Status ReferenceSliceScatter(ir::RefCall& call) {
  RML_ASSIGN(const std::vector<SliceRange> ranges, SliceRanges(call.call(), call.in_shape(0)));
  call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto updates = call.in<T>(1);
    const auto y = call.out<T>(0);
    std::copy(x.begin(), x.end(), y.begin());
    for (int64_t i = 0; i < updates.size(); ++i) {
      Coordinates at = CoordinatesOf(i, updates.shape());
      for (size_t axis = 0; axis < ranges.size(); ++axis)
        at[axis] = ranges[axis].first + at[axis] * ranges[axis].step;
      y[PositionOf(at, y.shape())] = updates[i];
    }
  });
  return {};
}

ir::Values VjpSliceScatter(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::AttrList same = SameSlice(call.call());
  ir::Values grads(size_t{2});
  if (call.needs(0))
    grads[0] = e.one("slice_scatter", {call.grad(0), e.zeros_like(call.in(1))}, same);
  if (call.needs(1)) grads[1] = e.one("slice", {call.grad(0)}, same);
  return grads;
}

}  // namespace

ir::OpDef SliceScatter() {
  ir::OpDef op;
  op.name = "slice_scatter";
  op.doc =
      "`x` with `updates` in the place of what `slice` takes with the same attributes. In place "
      "where `x` dies with the call.";
  op.inputs = {{"x"}, {"updates"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = SliceAttributes();
  op.axes = ir::AxesRule(SliceAxes);
  op.infer = InferSliceScatter;
  op.reference = ReferenceSliceScatter;
  op.vjp = VjpSliceScatter;
  op.aliases = {{0, 0}};
  op.samples = [] {
    // The shapes of the slices of SliceCases, in its order.
    const std::vector<core::Shape> updates = {{3},       {3},    {7},    {3}, {1},   {2, 5},
                                              {2, 3, 2}, {3, 0}, {0, 3}, {},  {2, 1}};
    std::vector<ir::Sample> samples;
    size_t i = 0;
    for (const auto& [shape, attributes] : SliceCases())
      samples.push_back({{{shape}, {updates[i++]}}, attributes});
    return samples;
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
