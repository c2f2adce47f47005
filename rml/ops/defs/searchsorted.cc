// Where values belong in a sorted axis.
#include <algorithm>

#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"
#include "rml/ops/sorting.h"

namespace rml::ops {
namespace {

core::Status InferSearchsorted(const ir::OpCall& call, ir::Types* outputs) {
  if (call.rank(0) == 0) return core::InvalidArgument("sorted has no axis");
  if (call.rank(0) > 1) {
    if (call.rank(0) != call.rank(1)) {
      return core::InvalidArgument("sorted has ", call.rank(0), " dimensions and values have ",
                                   call.rank(1));
    }
    for (int i = 0; i + 1 < call.rank(0); ++i) {
      if (call.dim(0, i) == call.dim(1, i)) continue;
      return core::InvalidArgument("axis ", i, " is ", call.dim(0, i).ToString(), " in sorted and ",
                                   call.dim(1, i).ToString(), " in values");
    }
  }
  outputs->push_back({core::DType::kI64, call.input(1).dims});
  return {};
}

core::Status ReferenceSearchsorted(ir::RefCall& call) {
  const bool right = call.call().flag("right");
  call.VisitNumber(0, [&](auto zero) {
    using T = decltype(zero);
    const auto sorted = call.in<T>(0);
    const auto values = call.in<T>(1);
    const auto y = call.out<int64_t>(0);
    const int64_t size = sorted.dim(-1);
    const int64_t row_values = sorted.rank() > 1 ? values.dim(-1) : values.size();
    for (int64_t i = 0; i < values.size(); ++i) {
      const T* const begin = sorted.data() + i / row_values * size;
      const T* const place = right ? std::upper_bound(begin, begin + size, values[i], Less<T>)
                                   : std::lower_bound(begin, begin + size, values[i], Less<T>);
      y[i] = place - begin;
    }
  });
  return {};
}

core::Expected<ir::Axes> ResolveSearch(const ir::OpCall& call) {
  ir::Axes axes;
  for (int i = 0; i < call.rank(1); ++i) {
    const bool shared = call.rank(0) > 1 && i + 1 < call.rank(0);
    axes.push_back(FreeAxis(i, {shared ? i : -1, i}, {i}));
  }
  return axes;
}

}  // namespace

ir::OpDef Searchsorted() {
  ir::OpDef op;
  op.name = "searchsorted";
  op.doc =
      "How many elements of `sorted`, in ascending order along its last axis, are less than each "
      "of `values` (`right`: or equal). Leading axes are equal; a vector serves values of any "
      "shape. NaN is the largest.";
  op.inputs = {{"sorted"}, {"values"}};
  op.outputs = {{"y", "i64"}};
  op.types = {{"T", ir::kNumbers}};
  op.attributes = {{"right", false}};
  op.axes = ir::AxesRule(ResolveSearch);
  op.infer = InferSearchsorted;
  op.reference = ReferenceSearchsorted;
  op.no_gradient = true;
  op.samples = [] {
    const ir::Fill sorted = ir::Fill::Sorted(-4, 4);
    const ir::Fill any = ir::Fill::Uniform(-5, 5);
    const ir::Fill steps = ir::Fill::Values({0, 1, 1, 2, 4});
    return std::vector<ir::Sample>{
        {{{{7}, sorted}, {{}, any}}},
        {{{{33}, sorted}, {{3, 5}, any}}},
        {{{{2, 3, 7}, sorted}, {{2, 3, 5}, any}}},
        {{{{5}, steps}, {{6}, ir::Fill::Values({0, 1, 2, 3, 4, 5})}}},
        {{{{5}, steps}, {{6}, ir::Fill::Values({0, 1, 2, 3, 4, 5})}}, {{"right", true}}},
        {{{{0}}, {{3}, any}}},
        {{{{2, 4}, sorted}, {{2, 0}, any}}},
    };
  };
  return op;
}

}  // namespace rml::ops
