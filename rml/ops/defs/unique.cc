// The distinct elements of x, or the distinct slices along an axis.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"
#include "rml/ops/sorting.h"

namespace rml::ops {
namespace {

// The axis whose slices are compared; nothing where elements are.
core::Expected<std::optional<int>> UniqueAxis(const ir::OpCall& call) {
  RML_ASSIGN(const ir::Ints axes, AxesInOrder(call, "axes", call.rank(0)));
  if (axes.size() > 1) return core::InvalidArgument("there are ", axes.size(), " axes, expected 1");
  return axes.empty() ? std::optional<int>() : static_cast<int>(axes[0]);
}

core::Status InferUnique(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const std::optional<int> axis, UniqueAxis(call));
  ir::Dims dims = call.input(0).dims;
  const ir::Dim size = axis ? dims[*axis] : dims.elements();
  const ir::Dim found = call.FreshDim(0, size);
  if (axis) {
    dims[*axis] = found;
  } else {
    dims = {found};
  }
  outputs->push_back({call.dtype(0), dims});
  outputs->push_back({core::DType::kI64, {size}});
  outputs->push_back({core::DType::kI64, {found}});
  outputs->push_back({core::DType::kI64, {found}});
  return {};
}

// Slices, or elements, of a wide array around one axis.
template <typename T>
struct UniqueSlices {
  const T* x;
  AxisView view;

  template <typename Body>
  bool Any(int64_t a, int64_t b, Body&& body) const {
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t in = 0; in < view.inner; ++in) {
        if (body(x[view.at(o, a, in)], x[view.at(o, b, in)])) return true;
      }
    }
    return false;
  }
  bool Equal(int64_t a, int64_t b) const {
    return !Any(a, b, [](T left, T right) { return !(left == right); });
  }
  // By their first elements that are in an order.
  bool Before(int64_t a, int64_t b) const {
    bool before = false;
    Any(a, b, [&](T left, T right) {
      before = Less(left, right);
      return before || Less(right, left);
    });
    return before;
  }
};

core::Status ReferenceUnique(ir::RefCall& call) {
  RML_ASSIGN(const std::optional<int> axis, UniqueAxis(call.call()));
  const auto inverse = call.out<int64_t>(1);
  const auto counts = call.out<int64_t>(2);
  const auto first = call.out<int64_t>(3);
  const core::Shape& shape = call.in_shape(0);
  const AxisView view = axis ? AxisView(shape, *axis) : AxisView(inverse.shape(), 0);
  call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    const UniqueSlices<T> slices = {call.in<T>(0).data(), view};
    std::vector<int64_t> order(static_cast<size_t>(view.size));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return slices.Before(a, b); });
    // Equal ones lie together, the first of them first.
    std::vector<std::vector<int64_t>> groups;
    for (const int64_t i : order) {
      if (groups.empty() || !slices.Equal(groups.back()[0], i)) groups.emplace_back();
      groups.back().push_back(i);
    }
    if (!call.call().flag("sorted"))
      std::ranges::sort(groups, {}, [](const std::vector<int64_t>& group) { return group[0]; });
    const auto y = call.out<T>(0);
    const AxisView to(y.shape(), axis.value_or(0));
    for (size_t g = 0; g < groups.size(); ++g) {
      const auto place = static_cast<int64_t>(g);
      first[place] = groups[g][0];
      counts[place] = static_cast<int64_t>(groups[g].size());
      for (const int64_t i : groups[g]) inverse[i] = place;
      for (int64_t o = 0; o < to.outer; ++o) {
        for (int64_t in = 0; in < to.inner; ++in)
          y[to.at(o, place, in)] = slices.x[view.at(o, first[place], in)];
      }
    }
    const auto found = static_cast<int64_t>(groups.size());
    call.SetExtent(0, axis.value_or(0), found);
    call.SetExtent(2, 0, found);
    call.SetExtent(3, 0, found);
  });
  return {};
}

// Equal ones share: where they would part, any choice is a subgradient.
ir::Values VjpUnique(ir::ExprCall& call) {
  if (!call.grad(0).defined()) return {ir::Value()};
  const Emit e(call.b());
  const std::optional<int> axis = OrThrow(UniqueAxis(call.call()));
  const ir::Value counts = e.cast(call.out(2), call.grad(0).dtype());
  ir::Dims along;
  for (int i = 0; i < call.out(0).rank(); ++i)
    along.Append(i == axis.value_or(0) ? counts.type().dims[0] : ir::Dim(1));
  const ir::Value shares = e.div(call.grad(0), e.reshape(counts, along));
  const ir::Value all =
      e.one("gather", {shares, call.out(1)}, {{"axis", int64_t{axis.value_or(0)}}});
  return {axis ? all : e.reshape(all, call.in(0).type().dims)};
}

// Comparisons of a sort.
ir::Cost UniqueCost(const ir::OpCall& call) {
  const auto elements = static_cast<double>(call.input(0).dims.elements().max());
  const double bytes = elements * core::Info(call.dtype(0)).block_bytes;
  return {elements * (1 + std::log2(1 + elements)), bytes, bytes + 24 * elements};
}

}  // namespace

ir::OpDef Unique() {
  ir::OpDef op;
  op.name = "unique";
  op.doc =
      "The distinct elements of `x` as a vector, or the distinct slices along the one axis in "
      "`axes`; where each element or slice went (`values[inverse]` is `x`, for elements x in "
      "row-major order), how often each occurs, and where it does so first. In ascending order, "
      "slices by their first difference; without `sorted` in order of appearance (ONNX's Unique, "
      "`numpy.unique`). How many there are is known only when it runs. NaN is the largest, and "
      "what holds one equals nothing.";
  op.inputs = {{"x"}};
  op.outputs = {{"values"}, {"inverse", "i64"}, {"counts", "i64"}, {"first", "i64"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"axes", ir::Ints()}, {"sorted", true}};
  op.infer = InferUnique;
  op.reference = ReferenceUnique;
  op.vjp = VjpUnique;
  op.cost = UniqueCost;
  op.samples = [] {
    const ir::Fill some = ir::Fill::Values({3, 1, 3, 2, 1, 3, 0});
    const ir::Fill pairs = ir::Fill::Values({1, 0, 1, 1, 1, 0, 0, 1});
    const auto along = [](int64_t axis, bool sorted) {
      return ir::AttrList{{"axes", ir::Ints{axis}}, {"sorted", sorted}};
    };
    return std::vector<ir::Sample>{
        {{{{1}}}},
        {{{{7}, ir::Fill::Distinct()}}},
        {{{{12}, some}}, {}, false},
        {{{{12}, some}}, {{"sorted", false}}, false},
        {{{{0}}}},
        {{{{}}}},
        {{{{5}, ir::Fill::Values({2})}}, {}, false},
        {{{{3, 5}, ir::Fill::Distinct()}}, {{"sorted", false}}},
        {{{{3, 5}, ir::Fill::Distinct()}}, along(0, true)},
        {{{{2, 7, 2}, ir::Fill::Distinct()}}, along(-2, false)},
        {{{{6, 2}, pairs}}, along(0, true), false},
        {{{{2, 6}, pairs}}, along(1, false), false},
        {{{{3, 0}}}, along(0, true), false},
        {{{{0, 3}}}, along(0, true)},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
