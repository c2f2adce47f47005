#include "rml/ops/extremes.h"

#include "rml/ops/norm.h"
#include "rml/ops/reduce.h"

namespace rml::ops {

using ir::Fill;
using ir::Value;

ir::Values ExtremeGradients(const ir::ExprCall& call, std::string_view wins) {
  const Value& g = call.grad(0);
  const auto part = [&](const Emit& e, int winner) {
    const Value mine = call.in(winner);
    const Value other = call.in(1 - winner);
    const Value shared = e.where(e.one("equal", {mine, other}), e.mul(g, 0.5), e.like(g, 0));
    return e.where(e.one(wins, {mine, other}), g, shared);
  };
  return BinaryGradients(
      call, [&](const Emit& e) { return part(e, 0); }, [&](const Emit& e) { return part(e, 1); });
}

std::vector<ir::Sample> ExtremeSamples() {
  auto samples = BinarySamples();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  samples.push_back({{{{8}, Fill::Values({1, kNaN, 2, 0, -0.0, kInfinity, kNaN, 3})},
                      {{8}, Fill::Values({1, 1, kNaN, -0.0, 0, -kInfinity, kNaN, 2})}},
                     {},
                     false});
  return samples;
}

core::Status ReduceExtreme(ir::RefCall& call, bool largest) {
  return call.VisitNumber(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    for (T& value : y) value = EndOf<T>(call.call().dtype(0), largest);
    return ForReduction(call, [&](int64_t out, int64_t in) {
      y[out] = largest ? Larger(y[out], x[in]) : Smaller(y[out], x[in]);
    });
  });
}

ir::Values ReduceExtremeGradient(ir::ExprCall& call) {
  const Emit e(call.b());
  return {ShareAmong(call, e, e.one("equal", {call.in(0), Kept(call, e, call.out(0))}))};
}

std::vector<ir::Sample> ReduceExtremeSamples() {
  auto samples = ReductionSamples(Fill::Distinct());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const ir::AttrList last = {{"axes", ir::Ints{1}}};
  samples.push_back({{{{2, 0}}}, last});
  samples.push_back({{{{3, 4}, Fill::Values({1, 2, 2, 1, 2, 2})}}, last, false});
  samples.push_back(
      {{{{4, 3}, Fill::Values({1, kNaN, 2, -kInfinity, -0.0, 0, kInfinity, 3})}}, last, false});
  samples.push_back({{{{3, 5}, Fill::Normal(0, 1000)}}, {{"axes", ir::Ints{0, 1}}}});
  return samples;
}

Value ShareAmong(const ir::ExprCall& call, const Emit& e, const Value& hits) {
  const core::DType dtype = call.grad(0).dtype();
  // Counted in f32 at least: f16 ends at 65504.
  const core::DType wide = StatType(dtype);
  const Value ones = e.cast(hits, wide);
  const ir::Ints axes = *call.call().axes("axes", call.in(0).rank());
  const Value count = axes.empty() ? ones : e.sum(ones, axes, true);
  const Value part = e.cast(e.div(e.cast(Kept(call, e, call.grad(0)), wide), count), dtype);
  return e.where(hits, part, e.like(part, 0));
}

}  // namespace rml::ops
