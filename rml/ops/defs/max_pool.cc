// The largest element of each window.
#include <cmath>

#include "rml/ops/elementwise.h"
#include "rml/ops/pool.h"

namespace rml::ops {
namespace {

enum { kY, kIndices };

core::Status ReferenceMaxPool(ir::RefCall& call) {
  RML_ASSIGN(const PoolGeometry g, PoolGeometryOf(call.call()));
  const core::Shape& shape = call.in_shape(0);
  int64_t places = 1;
  for (int axis = 2; axis < shape.rank(); ++axis) places *= shape[axis];
  return call.VisitNumber(0, [&](auto zero) -> core::Status {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(kY);
    const auto indices = call.out<int64_t>(kIndices);
    return ForWindows(g, shape, y.shape(),
                      [&](int64_t to, std::span<const int64_t> from, int64_t) -> core::Status {
                        int64_t best = from[0];
                        for (const int64_t at : from) {
                          bool better = x[at] > x[best];
                          if constexpr (std::is_same_v<T, double>)
                            better = better || (std::isnan(x[at]) && !std::isnan(x[best]));
                          if (better) best = at;
                        }
                        y[to] = x[best];
                        indices[to] = best % places;
                        return {};
                      });
  });
}

ir::Values VjpMaxPool(ir::ExprCall& call) {
  const Emit e(call.b());
  const auto flat = [&](const ir::Value& value) {
    const ir::Dims dims = value.type().dims;
    ir::Dim places = 1;
    for (int axis = 2; axis < dims.rank(); ++axis) places = places * dims[axis];
    return e.reshape(value, {dims[0], dims[1], places});
  };
  const ir::Value zeros = flat(e.zeros_like(call.in(0)));
  const ir::Value dx =
      e.one("scatter_along_axis", {zeros, flat(call.out(kIndices)), flat(call.grad(kY))},
            {{"axis", 2}, {"reduce", "add"}});
  return {e.reshape(dx, call.in(0).type().dims)};
}

}  // namespace

ir::OpDef MaxPool() {
  ir::OpDef op;
  op.name = "max_pool";
  op.doc =
      "The largest element of each window of `x` [batch, channels, place…], and its place among "
      "the channel's. Of equal elements the first counts; NaN is larger than all. `strides` are "
      "ones by default; padding never wins. With `ceil_mode` a last window may reach over the "
      "end, if it starts before the padding there.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}, {"indices", "i64", ir::OutputKind::kSaved}};
  op.types = {{"T", ir::kNumbers}};
  op.attributes = PoolAttributes();
  op.axes = ir::AxesRule(PoolAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_ASSIGN(const ir::Dims dims, PooledDims(call));
    outputs->push_back({call.dtype(0), dims});
    outputs->push_back({core::DType::kI64, dims});
    return {};
  };
  op.reference = ReferenceMaxPool;
  op.vjp = VjpMaxPool;
  op.cost = PoolCost;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const PoolCase& c : PoolCases())
      samples.push_back({{{c.x, ir::Fill::Distinct()}}, c.attributes});
    samples.push_back(
        {{{{1, 1, 4}, ir::Fill::Values({2, 2, 1, 1})}}, {{"kernel", ir::Ints{2}}}, false});
    return samples;
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
