// The distinct elements of a vector, sorted.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status ReferenceUnique(ir::RefCall& call) {
  call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    const auto inverse = call.out<int64_t>(1);
    const auto counts = call.out<int64_t>(2);
    // NaN is the largest, and each is its own.
    const auto less = [](T a, T b) {
      if constexpr (std::is_same_v<T, double>) {
        if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
      }
      return a < b;
    };
    std::vector<int64_t> order(static_cast<size_t>(x.size()));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return less(x[a], x[b]); });
    int64_t found = 0;
    for (const int64_t i : order) {
      if (found == 0 || !(y[found - 1] == x[i])) {
        y[found] = x[i];
        counts[found] = 0;
        ++found;
      }
      inverse[i] = found - 1;
      ++counts[found - 1];
    }
    call.SetExtent(0, 0, found);
    call.SetExtent(2, 0, found);
  });
  return {};
}

}  // namespace

ir::OpDef Unique() {
  ir::OpDef op;
  op.name = "unique";
  op.doc =
      "The distinct elements of a vector in ascending order, where each element of `x` went "
      "(`values[inverse] = x`), and how often each "
      "occurs. How many there are is known only when it runs. NaN is the largest, and each is its "
      "own.";
  op.inputs = {{"x"}};
  op.outputs = {{"values"}, {"inverse", "i64"}, {"counts", "i64"}};
  op.types = {{"T", ir::kNumbers}};
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    if (call.rank(0) != 1)
      return core::InvalidArgument("x has ", call.rank(0), " dimensions, expected 1");
    const ir::Dim found = call.FreshDim(0, call.dim(0, 0));
    outputs->push_back({call.dtype(0), {found}});
    outputs->push_back({core::DType::kI64, {call.dim(0, 0)}});
    outputs->push_back({core::DType::kI64, {found}});
    return {};
  };
  op.reference = ReferenceUnique;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    // Equal elements share: where they would part, any choice is a subgradient.
    const Emit e(call.b());
    if (!call.grad(0).defined()) return {ir::Value()};
    const ir::Value shares = e.div(call.grad(0), e.cast(call.out(2), call.grad(0).dtype()));
    return {e.one("take_along_axis", {shares, call.out(1)}, {{"axis", 0}})};
  };
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{1}}}},
        {{{{7}, ir::Fill::Distinct()}}},
        {{{{12}, ir::Fill::Values({3, 1, 3, 2, 1, 3, 0})}}, {}, false},
        {{{{0}}}},
        {{{{5}, ir::Fill::Values({2})}}, {}, false},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
