// y = min(max(x, min), max)
#include <cmath>
#include <limits>

#include "rml/ops/elementwise.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {
namespace {

enum { kX, kMin, kMax };

template <typename T>
bool IsNan(T x) {
  if constexpr (std::is_same_v<T, double>) return std::isnan(x);
  return false;
}

core::Status ReferenceClamp(ir::RefCall& call) {
  call.VisitNumber(kX, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(kX);
    const auto y = call.out<T>(0);
    const auto bound = [&](int input, auto exceeds) {
      if (!call.has(input)) return;
      const auto limits = call.in<T>(input);
      const core::Shape& shape = y.shape();
      const auto strides = BroadcastStrides(limits.shape(), shape);
      for (int64_t i = 0; i < y.size(); ++i) {
        const Coordinates at = CoordinatesOf(i, shape);
        int64_t place = 0;
        for (size_t axis = 0; axis < static_cast<size_t>(shape.rank()); ++axis)
          place += at[axis] * strides[axis];
        const T limit = limits[place];
        if (!IsNan(y[i]) && (IsNan(limit) || exceeds(y[i], limit))) y[i] = limit;
      }
    };
    ForBroadcast<1>(call,
                    [&](int64_t out, const std::array<int64_t, 1>& in) { y[out] = x[in[0]]; });
    bound(kMin, [](T value, T limit) { return value < limit; });
    bound(kMax, [](T value, T limit) { return value > limit; });
  });
  return {};
}

ir::Values VjpClamp(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Value x = call.in(kX);
  const ir::Value& g = call.grad(0);
  const ir::Value zero = e.like(g, 0);
  const bool has_min = call.call().has(kMin);
  const bool has_max = call.call().has(kMax);
  const auto where = [&](const ir::Value& condition) { return e.where(condition, g, zero); };
  const auto both = [&](const ir::Value& a, const ir::Value& b) {
    return e.one("logical_and", {a, b});
  };
  ir::Values grads(static_cast<size_t>(call.inputs()));
  if (call.needs(kX)) {
    ir::Value inside;
    if (has_min) inside = e.one("greater_equal", {x, call.in(kMin)});
    if (has_max) {
      const ir::Value below = e.one("less_equal", {x, call.in(kMax)});
      inside = has_min ? both(inside, below) : below;
    }
    grads[kX] = e.sum_to(inside.defined() ? where(inside) : g, x.type().dims);
  }
  if (has_min && call.needs(kMin)) {
    ir::Value taken = e.one("less", {x, call.in(kMin)});
    if (has_max) taken = both(taken, e.one("less_equal", {call.in(kMin), call.in(kMax)}));
    grads[kMin] = e.sum_to(where(taken), call.in(kMin).type().dims);
  }
  if (has_max && call.needs(kMax)) {
    ir::Value taken = e.one("greater", {x, call.in(kMax)});
    if (has_min)
      taken = e.one("logical_or", {taken, e.one("greater", {call.in(kMin), call.in(kMax)})});
    grads[kMax] = e.sum_to(where(taken), call.in(kMax).type().dims);
  }
  return grads;
}

}  // namespace

ir::OpDef Clamp() {
  ir::OpDef op;
  op.name = "clamp";
  op.doc =
      "`y = min(max(x, min), max)`, elementwise and broadcast; either limit may be left out. "
      "Where min is above max, max wins; NaN anywhere gives NaN. At a limit the gradient is x's.";
  op.inputs = {{"x"}, {"min", "T", ir::Arity::kOptional}, {"max", "T", ir::Arity::kOptional}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kNumbers}};
  op.axes = ir::AxesRule(BroadcastAxes);
  op.infer = InferBroadcast;
  op.reference = ReferenceClamp;
  op.vjp = VjpClamp;
  op.samples = [] {
    using ir::Fill;
    const ir::SampleInput none = {{}, Fill::None()};
    const Fill low = Fill::Uniform(-1, -0.5);
    const Fill high = Fill::Uniform(0.5, 1);
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    return std::vector<ir::Sample>{
        {{{{7}}, {{}, low}, {{}, high}}},
        {{{{2, 33}}, {{33}, low}, {{2, 1}, high}}},
        {{{{3, 5}}, {{}, low}, none}},
        {{{{3, 5}}, none, {{5}, high}}},
        {{{{3, 5}}, {{}, low}}},
        {{{{4}}}},
        {{{{}}, {{3}, low}, {{2, 1}, high}}},
        {{{{0, 3}}, {{}, low}, {{3}, high}}},
        {{{{5}}, {{5}, high}, {{5}, low}}},
        {{{{6}, Fill::Values({-1, 1, kNaN, 0, 2, -2})},
          {{6}, Fill::Values({-1, -1, -1, kNaN, 3, -3})},
          {{6}, Fill::Values({1, 1, 1, 1, 1, kNaN})}},
         {},
         false},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
