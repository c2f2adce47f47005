// The k largest (or smallest) elements of an axis, with their places.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "rml/ops/elementwise.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {
namespace {

core::Status InferTopK(const ir::OpCall& call, ir::Types* outputs) {
  if (call.rank(0) == 0) return core::InvalidArgument("x has no axis to choose from");
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
  const int64_t k = call.integer("k");
  const ir::Dim size = call.dim(0, axis);
  if (k < 0 || k > size.min())
    return core::InvalidArgument("k is ", k, ", and axis ", axis, " has ", size.ToString(),
                                 " elements");
  ir::Type type = call.input(0);
  type.dims[axis] = k;
  outputs->push_back(type);
  outputs->push_back({core::DType::kI64, type.dims});
  return {};
}

core::Status ReferenceTopK(ir::RefCall& call) {
  RML_ASSIGN(const int axis, call.call().axis("axis", call.in_shape(0).rank()));
  const bool largest = call.call().flag("largest");
  call.VisitNumber(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    const auto places = call.out<int64_t>(1);
    const AxisView from(x.shape(), axis);
    const AxisView to(y.shape(), axis);
    // NaN counts as the largest; of equal elements the first comes first.
    const auto before = [&](T a, T b) {
      if constexpr (std::is_same_v<T, double>) {
        if (std::isnan(a) || std::isnan(b))
          return largest ? std::isnan(a) && !std::isnan(b) : !std::isnan(a) && std::isnan(b);
      }
      return largest ? a > b : a < b;
    };
    std::vector<int64_t> order(static_cast<size_t>(from.size));
    for (int64_t o = 0; o < from.outer; ++o) {
      for (int64_t in = 0; in < from.inner; ++in) {
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
          return before(x[from.at(o, a, in)], x[from.at(o, b, in)]);
        });
        for (int64_t i = 0; i < to.size; ++i) {
          const int64_t place = order[static_cast<size_t>(i)];
          y[to.at(o, i, in)] = x[from.at(o, place, in)];
          places[to.at(o, i, in)] = place;
        }
      }
    }
  });
  return {};
}

}  // namespace

ir::OpDef TopK() {
  ir::OpDef op;
  op.name = "top_k";
  op.doc =
      "The `k` largest (or, unless `largest`, smallest) elements along `axis`, sorted, and their "
      "places. Of equal elements the first comes first; NaN counts as the largest.";
  op.inputs = {{"x"}};
  op.outputs = {{"values"}, {"indices", "i64"}};
  op.types = {{"T", ir::kNumbers}};
  op.attributes = {{"k", ir::RequiredAttr{int64_t{1}}}, {"axis", -1}, {"largest", true}};
  op.axes = ir::AxesRule(AxesButOne);
  op.infer = InferTopK;
  op.reference = ReferenceTopK;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value zeros = e.zeros_like(call.in(0));
    return {e.one("scatter_along_axis", {zeros, call.out(1), call.grad(0)},
                  {{"axis", call.call().integer("axis")}, {"reduce", "add"}})};
  };
  op.samples = [] {
    const ir::Fill distinct = ir::Fill::Distinct();
    return std::vector<ir::Sample>{
        {{{{5}, distinct}}, {{"k", 3}}},
        {{{{4, 6}, distinct}}, {{"k", 2}, {"largest", false}}},
        {{{{4, 6, 3}, distinct}}, {{"k", 3}, {"axis", 1}}},
        {{{{3, 4}, ir::Fill::Values({1, 2, 2, 1})}}, {{"k", 3}}, false},
        {{{{2, 70}, distinct}}, {{"k", 70}}},
        {{{{3}, distinct}}, {{"k", 0}}},
        {{{{0, 3}, distinct}}, {{"k", 2}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
