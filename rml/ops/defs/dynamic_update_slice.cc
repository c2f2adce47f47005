// y = x, and y[start + i, …] = update[i, …], with a start that only the run knows
#include <algorithm>

#include "rml/ops/dynamic_slicing.h"
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

// How many axes are cut: one for each start.
core::Expected<int64_t> CountOfStarts(const ir::OpCall& call) {
  if (call.rank(2) != 1 || !call.dim(2, 0).is_integer()) {
    return core::InvalidArgument("starts is ", call.input(2).dims.ToString(),
                                 ", expected a list of known length");
  }
  return call.dim(2, 0).value();
}

core::Status InferDynamicUpdateSlice(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const int64_t count, CountOfStarts(call));
  RML_ASSIGN(const ir::Ints axes, DynamicAxes(call, count));
  if (call.rank(0) != call.rank(1)) {
    return core::InvalidArgument("x has ", call.rank(0), " dimensions and update has ",
                                 call.rank(1));
  }
  for (int axis = 0; axis < call.rank(0); ++axis) {
    const ir::Dim whole = call.dim(0, axis);
    const ir::Dim part = call.dim(1, axis);
    if (Contains(axes, axis) ? (whole - part).valid() : whole == part) continue;
    return core::InvalidArgument("axis ", axis, " is ", whole.ToString(), " in x and ",
                                 part.ToString(), " in update");
  }
  outputs->push_back(call.input(0));
  return {};
}

core::Status ReferenceDynamicUpdateSlice(ir::RefCall& call) {
  RML_ASSIGN(const ir::Ints axes, DynamicAxes(call.call(), call.in_shape(2).elements()));
  const std::vector<int64_t> first =
      DynamicStarts(call, 2, axes, call.in_shape(0), call.in_shape(1));
  call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto update = call.in<T>(1);
    const auto y = call.out<T>(0);
    std::copy(x.begin(), x.end(), y.begin());
    for (int64_t i = 0; i < update.size(); ++i) {
      Coordinates at = CoordinatesOf(i, update.shape());
      for (size_t axis = 0; axis < first.size(); ++axis) at[axis] += first[axis];
      y[PositionOf(at, y.shape())] = update[i];
    }
  });
  return {};
}

ir::Values VjpDynamicUpdateSlice(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Ints& axes = call.call().ints("axes");
  ir::Values grads(size_t{3});
  if (call.needs(0)) {
    grads[0] = e.one("dynamic_update_slice", {call.grad(0), e.zeros_like(call.in(1)), call.in(2)},
                     {{"axes", axes}});
  }
  if (call.needs(1)) {
    const int64_t count = OrThrow(CountOfStarts(call.call()));
    ir::Dims sizes;
    for (const int64_t axis : OrThrow(DynamicAxes(call.call(), count)))
      sizes.Append(call.in(1).type().dims[static_cast<int>(axis)]);
    grads[1] =
        e.one("dynamic_slice", {call.grad(0), call.in(2)}, {{"sizes", sizes}, {"axes", axes}});
  }
  return grads;
}

}  // namespace

ir::OpDef DynamicUpdateSlice() {
  ir::OpDef op;
  op.name = "dynamic_update_slice";
  op.doc =
      "`x` with `update` in the place of what `dynamic_slice` takes with the same `starts`, and "
      "update's sizes along `axes` (none: the first ones). In place where `x` dies with the call.";
  op.inputs = {{"x"}, {"update"}, {"starts", "I"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}, {"I", ir::kIndices}};
  op.attributes = {{"axes", ir::Ints()}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    RML_ASSIGN(const int64_t count, CountOfStarts(call));
    return DynamicSliceAxes(call, 2, count);
  });
  op.infer = InferDynamicUpdateSlice;
  op.reference = ReferenceDynamicUpdateSlice;
  op.vjp = VjpDynamicUpdateSlice;
  op.cost = [](const ir::OpCall& call) {
    const double bytes = core::Info(call.dtype(0)).block_bytes;
    const double moved = bytes * static_cast<double>(call.input(0).dims.elements().max());
    const double written = bytes * static_cast<double>(call.input(1).dims.elements().max());
    return ir::Cost{0, moved + written, moved};
  };
  op.aliases = {{0, 0}};
  op.samples = [] {
    const auto starts = [](std::vector<double> values) {
      return ir::SampleInput({static_cast<int64_t>(values.size())}, ir::Fill::Values(values));
    };
    return std::vector<ir::Sample>{
        {{{{7}}, {{3}}, starts({2})}},
        {{{{7}}, {{3}}, starts({100})}},
        {{{{7}}, {{3}}, starts({-3})}},
        {{{{4, 17}}, {{2, 9}}, starts({1, 9})}},
        {{{{2, 3, 5}}, {{2, 1, 2}}, starts({4, 1})}, {{"axes", ir::Ints{-1, 1}}}},
        {{{{3, 33}}, {{3, 17}}, starts({16})}, {{"axes", ir::Ints{1}}}},
        {{{{3, 4}}, {{0, 4}}, starts({2})}},
        {{{{0, 3}}, {{0, 3}}, starts({1})}},
        {{{{2, 3}}, {{2, 3}}, {{0}}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
