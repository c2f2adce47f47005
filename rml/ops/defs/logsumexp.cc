// y = ln Σ eˣ over axes
#include <cmath>
#include <limits>

#include "rml/ops/extremes.h"
#include "rml/ops/whole_reduction.h"

namespace rml::ops {
namespace {

core::Status ReferenceLogsumexp(ir::RefCall& call) {
  const auto x = call.in<double>(0);
  const auto y = call.out<double>(0);
  std::vector<double> largest(static_cast<size_t>(y.size()),
                              -std::numeric_limits<double>::infinity());
  RML_TRY(ForReduction(call, [&](int64_t out, int64_t in) {
    double& so_far = largest[static_cast<size_t>(out)];
    so_far = Larger(so_far, x[in]);
  }));
  // Nothing is taken off where it is infinite: ∞ - ∞ is no number.
  for (double& value : largest) value = std::isinf(value) ? 0 : value;
  RML_TRY(ForReduction(call, [&](int64_t out, int64_t in) {
    y[out] += std::exp(x[in] - largest[static_cast<size_t>(out)]);
  }));
  for (int64_t i = 0; i < y.size(); ++i) y[i] = std::log(y[i]) + largest[static_cast<size_t>(i)];
  return {};
}

}  // namespace

ir::OpDef Logsumexp() {
  ir::OpDef op = WholeReduction();
  op.name = "logsumexp";
  op.doc =
      "`y = ln Σ eˣ` over `axes` (none: all), computed from x less its largest element. Of no "
      "elements: -∞.";
  op.reference = ReferenceLogsumexp;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value y = Kept(call, e, call.out(0));
    // Where every x is -∞ each has the share e⁻∞ = 0, not e^(-∞ + ∞).
    const ir::Value nothing = e.one("is_inf", {y}, {{"detect_positive", false}});
    const ir::Value finite = e.where(nothing, e.like(y, 0), y);
    const ir::Value shares = e.exp(e.sub(call.in(0), finite));
    return {e.mul(Kept(call, e, call.grad(0)), shares)};
  };
  op.cost = [](const ir::OpCall& call) { return ReductionCost(call, 4); };
  op.samples = [] {
    auto samples = ReductionSamples();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    const ir::AttrList last = {{"axes", ir::Ints{1}}};
    samples.push_back({{{{2, 0}}}, last});
    samples.push_back({{{{3, 5}, ir::Fill::Normal(300, 20)}}, last});
    samples.push_back(
        {{{{4, 2},
           ir::Fill::Values({-kInfinity, -kInfinity, -kInfinity, 1, kInfinity, 1, kNaN, 1})}},
         last,
         false});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
