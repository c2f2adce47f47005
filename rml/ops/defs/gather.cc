// y[before…, i…, after…] = x[before…, indices[i…], after…]
#include <algorithm>

#include "rml/ops/elementwise.h"
#include "rml/ops/indexing.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status InferGather(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
  RML_TRY(CheckRank(call.rank(0) + call.rank(1) - 1));
  ir::Type type = {call.dtype(0), {}};
  for (int i = 0; i < axis; ++i) type.dims.Append(call.dim(0, i));
  for (int i = 0; i < call.rank(1); ++i) type.dims.Append(call.dim(1, i));
  for (int i = axis + 1; i < call.rank(0); ++i) type.dims.Append(call.dim(0, i));
  outputs->push_back(type);
  return {};
}

core::Status ReferenceGather(ir::RefCall& call) {
  RML_ASSIGN(const int axis, call.call().axis("axis", call.in_shape(0).rank()));
  const auto indices = call.in<int64_t>(1);
  const AxisView view(call.in_shape(0), axis);
  return call.VisitIn(0, [&](auto zero) -> core::Status {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    for (int64_t i = 0; i < indices.size(); ++i) {
      RML_ASSIGN(const int64_t place, CheckIndex(indices[i], view.size, i, indices.shape()));
      for (int64_t o = 0; o < view.outer; ++o) {
        std::copy_n(x.data() + view.at(o, place, 0), view.inner,
                    y.data() + (o * indices.size() + i) * view.inner);
      }
    }
    return {};
  });
}

ir::Values VjpGather(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Dims x = call.in(0).type().dims;
  const int axis = *call.call().axis("axis", x.rank());
  // All indices as one axis, in the place of x's: [before…, count, after…].
  const ir::Dim count = call.in(1).type().dims.elements();
  ir::Dims dims = x;
  dims[axis] = count;
  ir::Dims along;
  for (int i = 0; i < x.rank(); ++i) along.Append(i == axis ? count : ir::Dim(1));
  const ir::Value index = e.broadcast(e.reshape(call.in(1), along), dims);
  return {e.one("scatter_along_axis",
                {e.zeros_like(call.in(0)), index, e.reshape(call.grad(0), dims)},
                {{"axis", axis}, {"reduce", "add"}})};
}

core::Expected<ir::Axes> ResolveGather(const ir::OpCall& call) {
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
  ir::Axes axes;
  int number = 0;
  for (int i = 0; i < axis; ++i) axes.push_back(FreeAxis(number++, {i, -1}, {i}));
  for (int i = 0; i < call.rank(1); ++i) axes.push_back(FreeAxis(number++, {-1, i}, {axis + i}));
  for (int i = axis + 1; i < call.rank(0); ++i)
    axes.push_back(FreeAxis(number++, {i, -1}, {i + call.rank(1) - 1}));
  return axes;
}

}  // namespace

ir::OpDef Gather() {
  ir::OpDef op;
  op.name = "gather";
  op.doc =
      "Slices of `x` at `indices` of any rank along `axis`, as ONNX's Gather and NumPy's take: "
      "the axes of the indices stand in the place of the axis. Negative indices count from the "
      "end.";
  op.inputs = {{"x"}, {"indices", "I"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}, {"I", ir::kIndices}};
  op.attributes = {{"axis", 0}};
  op.axes = ir::AxesRule(ResolveGather);
  op.infer = InferGather;
  op.reference = ReferenceGather;
  op.vjp = VjpGather;
  op.cost = [](const ir::OpCall& call) {
    ir::Dim elements = call.input(1).dims.elements();
    const auto axis = call.axis("axis", call.rank(0));
    for (int i = 0; i < call.rank(0); ++i) {
      if (i != *axis) elements = elements * call.dim(0, i);
    }
    const double bytes =
        static_cast<double>(elements.max()) * core::Info(call.dtype(0)).block_bytes;
    const double index_bytes = static_cast<double>(call.input(1).dims.elements().max()) *
                               core::Info(call.dtype(1)).block_bytes;
    return ir::Cost{0, bytes + index_bytes, bytes};
  };
  op.samples = [] {
    const auto index = [](core::Shape shape, double size) {
      return ir::SampleInput(shape, ir::Fill::Uniform(-size, size - 1));
    };
    return std::vector<ir::Sample>{
        {{{{5}}, index({}, 5)}},
        {{{{4, 3}}, index({7}, 4)}},
        {{{{4, 3}}, index({2, 2}, 3)}, {{"axis", 1}}},
        {{{{2, 5, 33}}, index({3, 1, 2}, 5)}, {{"axis", -2}}},
        {{{{3, 4}}, index({0}, 1)}},
        {{{{0, 4}}, index({2}, 4)}, {{"axis", 1}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
