// y = (Σ |x|ᵖ)^(1/p) over axes
#include <algorithm>
#include <cmath>
#include <limits>

#include "rml/ops/extremes.h"
#include "rml/ops/whole_reduction.h"

namespace rml::ops {
namespace {

core::Status ReferenceNorm(ir::RefCall& call) {
  const auto x = call.in<double>(0);
  const auto y = call.out<double>(0);
  const double p = call.call().number("p");
  if (p == 1)
    return ForReduction(call, [&](int64_t out, int64_t in) { y[out] += std::abs(x[in]); });
  RML_TRY(ForReduction(call,
                       [&](int64_t out, int64_t in) { y[out] = Larger(y[out], std::abs(x[in])); }));
  if (p != 2) return {};
  // Squares of quotients by the largest: they neither overflow nor vanish.
  std::vector<double> squares(static_cast<size_t>(y.size()));
  RML_TRY(ForReduction(call, [&](int64_t out, int64_t in) {
    if (y[out] == 0 || std::isinf(y[out])) return;
    const double quotient = x[in] / y[out];
    squares[static_cast<size_t>(out)] += quotient * quotient;
  }));
  for (int64_t i = 0; i < y.size(); ++i) {
    if (y[i] != 0 && !std::isinf(y[i])) y[i] *= std::sqrt(squares[static_cast<size_t>(i)]);
  }
  return {};
}

ir::Values VjpNorm(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Value x = call.in(0);
  const ir::Value g = Kept(call, e, call.grad(0));
  const double p = call.call().number("p");
  const ir::Value y = Kept(call, e, call.out(0));
  if (p == 2) {
    const ir::Value zero = e.one("equal", {y, e.like(y, 0)});
    return {e.mul(g, e.div(x, e.where(zero, e.like(y, 1), y)))};
  }
  const ir::Value sign = e.one("sign", {x});
  if (p == 1) return {e.mul(g, sign)};
  return {e.mul(ShareAmong(call, e, e.one("equal", {e.one("abs", {x}), y})), sign)};
}

}  // namespace

ir::OpDef Norm() {
  ir::OpDef op = WholeReduction();
  op.name = "norm";
  op.doc =
      "Norm over `axes` (none: all), without overflow: `p` 1 is `Σ |x|`, 2 is `√Σ x²`, and inf is "
      "`max |x|`, whose gradient is shared by ties. The gradient of zeros is 0.";
  op.attributes.push_back({"p", 2.0});
  op.axes = ir::AxesRule([](const ir::OpCall& call) {
    const double p = call.number("p");
    if (p == 2) return WholeReductionAxes(call);
    return Reduction(p == 1 ? ir::Combine::kSum : ir::Combine::kMax).axes.function()(call);
  });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    const double p = call.number("p");
    if (p != 1 && p != 2 && p != std::numeric_limits<double>::infinity())
      return core::Unsupported("p is ", p, ", expected 1, 2 or inf");
    return InferReduction(call, outputs);
  };
  op.reference = ReferenceNorm;
  op.vjp = VjpNorm;
  op.samples = [] {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    std::vector<ir::Sample> samples = ReductionSamples();
    for (const double p : {1.0, 2.0, kInfinity}) {
      const ir::AttrList last = {{"axes", ir::Ints{1}}, {"p", p}};
      samples.push_back(
          {{{{3, 17}, ir::Fill::Distinct(0.3)}}, {{"axes", ir::Ints{0, 1}}, {"p", p}}, p == 2});
      samples.push_back({{{{2, 7}}}, last});
      samples.push_back({{{{2, 0}}}, last});
      samples.push_back(
          {{{{5, 2}, ir::Fill::Values({0, 0, 1, -1, kInfinity, 1, kNaN, 1, 6e4, 6e4})}},
           last,
           false});
    }
    return samples;
  };
  return op;
}

}  // namespace rml::ops
