// The axes in another order.
#include <algorithm>
#include <numeric>

#include "rml/ops/elementwise.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {
namespace {

core::Expected<ir::Ints> Order(const ir::OpCall& call) {
  const int rank = call.rank(0);
  ir::Ints order = call.ints("order");
  if (order.empty()) {
    for (int axis = rank - 1; axis >= 0; --axis) order.push_back(axis);
  }
  ir::Ints sorted;
  for (int64_t& axis : order) {
    RML_ASSIGN(axis, ir::NormalizeAxis(axis, rank));
    sorted.push_back(axis);
  }
  std::ranges::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted.size() != static_cast<size_t>(rank) || sorted[i] != static_cast<int64_t>(i)) {
      return core::InvalidArgument("order ", ToString(ir::AttrValue(call.ints("order"))),
                                   " does not name each of ", rank, " axes once");
    }
  }
  return order;
}

core::Status InferTranspose(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const ir::Ints order, Order(call));
  ir::Type type = call.input(0);
  for (size_t i = 0; i < order.size(); ++i)
    type.dims[static_cast<int>(i)] = call.dim(0, static_cast<int>(order[i]));
  outputs->push_back(type);
  return {};
}

core::Status ReferenceTranspose(ir::RefCall& call) {
  RML_ASSIGN(const ir::Ints order, Order(call.call()));
  call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    for (int64_t i = 0; i < y.size(); ++i) {
      const Coordinates to = CoordinatesOf(i, y.shape());
      Coordinates from = {};
      for (size_t axis = 0; axis < order.size(); ++axis)
        from[static_cast<size_t>(order[axis])] = to[axis];
      y[i] = x[PositionOf(from, x.shape())];
    }
  });
  return {};
}

core::Expected<ir::Axes> ResolveTranspose(const ir::OpCall& call) {
  RML_ASSIGN(const ir::Ints order, Order(call));
  ir::Axes axes;
  for (size_t i = 0; i < order.size(); ++i) {
    axes.push_back({core::StrCat("d", i),
                    ir::AxisRole::kFree,
                    ir::Combine::kSum,
                    {static_cast<int>(order[i])},
                    {static_cast<int>(i)}});
  }
  return axes;
}

ir::Values VjpTranspose(ir::ExprCall& call) {
  const auto order = Order(call.call());
  ir::Ints inverse(order->size());
  for (size_t i = 0; i < order->size(); ++i)
    inverse[static_cast<size_t>((*order)[i])] = static_cast<int64_t>(i);
  return {Emit(call.b()).transpose(call.grad(0), std::move(inverse))};
}

}  // namespace

ir::OpDef Transpose() {
  ir::OpDef op;
  op.name = "transpose";
  op.doc =
      "The axes in another `order`: axis i of `y` is axis order[i] of `x`. Without an order they "
      "are reversed.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"order", ir::Ints()}};
  op.axes = ir::AxesRule(ResolveTranspose);
  op.infer = InferTranspose;
  op.reference = ReferenceTranspose;
  op.vjp = VjpTranspose;
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{}}}},
        {{{{3, 5}}}},
        {{{{2, 3, 4}}}, {{"order", ir::Ints{1, -1, 0}}}},
        {{{{0, 3}}}, {{"order", ir::Ints{1, 0}}}},
        {{{{2, 17, 3, 5}}}, {{"order", ir::Ints{0, 2, 1, 3}}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
