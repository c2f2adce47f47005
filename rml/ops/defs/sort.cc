// An axis in order, with the places where its elements were.
#include <algorithm>
#include <numeric>

#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"
#include "rml/ops/sorting.h"

namespace rml::ops {
namespace {

core::Status ReferenceSort(ir::RefCall& call) {
  RML_ASSIGN(const int axis, call.call().axis("axis", call.in_shape(0).rank()));
  const bool descending = call.call().flag("descending");
  call.VisitNumber(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    const auto places = call.out<int64_t>(1);
    const AxisView view(x.shape(), axis);
    std::vector<int64_t> order(static_cast<size_t>(view.size));
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t in = 0; in < view.inner; ++in) {
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
          const T first = x[view.at(o, a, in)];
          const T second = x[view.at(o, b, in)];
          return descending ? Less(second, first) : Less(first, second);
        });
        for (int64_t i = 0; i < view.size; ++i) {
          const int64_t place = order[static_cast<size_t>(i)];
          y[view.at(o, i, in)] = x[view.at(o, place, in)];
          places[view.at(o, i, in)] = place;
        }
      }
    }
  });
  return {};
}

}  // namespace

ir::OpDef Sort() {
  ir::OpDef op;
  op.name = "sort";
  op.doc =
      "The elements of `x` along `axis` in ascending or `descending` order, and the place where "
      "each was. Equal ones keep their order; NaN is the largest.";
  op.inputs = {{"x"}};
  op.outputs = {{"values"}, {"indices", "i64"}};
  op.types = {{"T", ir::kNumbers}};
  op.attributes = {{"axis", -1}, {"descending", false}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    RML_ASSIGN(const int64_t axis, call.axis("axis", call.rank(0)));
    return SameAxes(call, 2, std::span(&axis, 1));
  });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(call.axis("axis", call.rank(0)));
    outputs->push_back(call.input(0));
    outputs->push_back({core::DType::kI64, call.input(0).dims});
    return {};
  };
  op.reference = ReferenceSort;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    // Every place occurs once: nothing of the zeros stays.
    return {e.one("scatter_along_axis", {e.zeros_like(call.in(0)), call.out(1), call.grad(0)},
                  {{"axis", call.call().integer("axis")}, {"reduce", "none"}})};
  };
  op.samples = [] {
    const ir::Fill distinct = ir::Fill::Distinct();
    return std::vector<ir::Sample>{
        {{{{1}}}},
        {{{{7}, distinct}}},
        {{{{3, 33}, distinct}}, {{"descending", true}}},
        {{{{2, 5, 3}, distinct}}, {{"axis", 1}}},
        {{{{2, 6}, ir::Fill::Values({2, 1, 2, 3, 1, 2})}}, {}, false},
        {{{{2, 6}, ir::Fill::Values({2, 1, 2, 3, 1, 2})}}, {{"descending", true}}, false},
        {{{{0, 3}}}, {{"axis", 0}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
