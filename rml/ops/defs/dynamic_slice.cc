// y[i, …] = x[start + i, …], with a start that only the run knows
#include "rml/ops/dynamic_slicing.h"
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status InferDynamicSlice(const ir::OpCall& call, ir::Types* outputs) {
  const ir::Dims& sizes = call.attr<ir::Dims>("sizes");
  RML_ASSIGN(const ir::Ints axes, DynamicAxes(call, sizes.rank()));
  if (call.rank(1) != 1 || !(call.dim(1, 0) == ir::Dim(sizes.rank()))) {
    return core::InvalidArgument("starts is ", call.input(1).dims.ToString(), ", expected [",
                                 sizes.rank(), "]");
  }
  ir::Type type = call.input(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    ir::Dim& dim = type.dims[static_cast<int>(axes[i])];
    const ir::Dim size = sizes[static_cast<int>(i)];
    if (!(dim - size).valid()) {
      return core::InvalidArgument(size.ToString(), " elements are more than axis ", axes[i],
                                   " has: ", dim.ToString());
    }
    dim = size;
  }
  outputs->push_back(type);
  return {};
}

core::Status ReferenceDynamicSlice(ir::RefCall& call) {
  RML_ASSIGN(const ir::Ints axes,
             DynamicAxes(call.call(), call.call().attr<ir::Dims>("sizes").rank()));
  const std::vector<int64_t> first =
      DynamicStarts(call, 1, axes, call.in_shape(0), call.out_shape(0));
  return CopyElements(call, [&](Coordinates& at) {
    for (size_t axis = 0; axis < first.size(); ++axis) at[axis] += first[axis];
    return true;
  });
}

ir::Values VjpDynamicSlice(ir::ExprCall& call) {
  const Emit e(call.b());
  return {e.one("dynamic_update_slice", {e.zeros_like(call.in(0)), call.grad(0), call.in(1)},
                {{"axes", call.call().ints("axes")}}),
          ir::Value()};
}

}  // namespace

ir::OpDef DynamicSlice() {
  ir::OpDef op;
  op.name = "dynamic_slice";
  op.doc =
      "`sizes` elements of each of `axes` (none: the first ones) from `starts` on, which are "
      "integers that only the run knows. As StableHLO's dynamic_slice: a start is moved to [0, "
      "size of the axis - size of the slice], so that the slice lies inside; a negative one does "
      "not count from the end.";
  op.inputs = {{"x"}, {"starts", "I"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}, {"I", ir::kIndices}};
  op.attributes = {{"sizes", ir::RequiredAttr{ir::Dims()}}, {"axes", ir::Ints()}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) {
    return DynamicSliceAxes(call, 1, call.attr<ir::Dims>("sizes").rank());
  });
  op.infer = InferDynamicSlice;
  op.reference = ReferenceDynamicSlice;
  op.vjp = VjpDynamicSlice;
  op.cost = [](const ir::OpCall& call) {
    ir::Types types;
    if (!InferDynamicSlice(call, &types).ok()) return ir::Cost();
    const double bytes =
        static_cast<double>(types[0].dims.elements().max()) * core::Info(call.dtype(0)).block_bytes;
    return ir::Cost{0, bytes, bytes};
  };
  op.samples = [] {
    const auto starts = [](std::vector<double> values) {
      return ir::SampleInput({static_cast<int64_t>(values.size())}, ir::Fill::Values(values));
    };
    return std::vector<ir::Sample>{
        {{{{7}}, starts({2})}, {{"sizes", ir::Dims{3}}}},
        {{{{7}}, starts({100})}, {{"sizes", ir::Dims{3}}}},
        {{{{7}}, starts({-3})}, {{"sizes", ir::Dims{3}}}},
        {{{{4, 17}}, starts({1, 9})}, {{"sizes", ir::Dims{2, 9}}}},
        {{{{2, 3, 5}}, starts({4, 1})}, {{"sizes", ir::Dims{2, 1}}, {"axes", ir::Ints{-1, 1}}}},
        {{{{3, 33}}, starts({16})}, {{"sizes", ir::Dims{17}}, {"axes", ir::Ints{1}}}},
        {{{{3, 4}}, starts({2})}, {{"sizes", ir::Dims{0}}}},
        {{{{0, 3}}, starts({1})}, {{"sizes", ir::Dims{0}}}},
        {{{{2, 3}}, {{0}}}, {{"sizes", ir::Dims()}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
