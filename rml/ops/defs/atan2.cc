// y = the angle of the point (b, a)
#include <cmath>

#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

// b / (a² + b²) and -a / (a² + b²). Both coordinates over the larger one first: their squares may
// leave a narrow dtype.
ir::Values VjpAtan2(ir::ExprCall& call) {
  const ir::Value a = call.in(0);
  const ir::Value b = call.in(1);
  const auto part = [&](const Emit& e, const ir::Value& coordinate) {
    const ir::Value steep = e.one("greater", {e.one("abs", {a}), e.one("abs", {b})});
    const ir::Value larger = e.where(steep, a, b);
    const ir::Value p = e.div(a, larger);
    const ir::Value q = e.div(b, larger);
    const ir::Value square = e.add(e.mul(p, p), e.mul(q, q));
    return e.mul(call.grad(0), e.div(e.div(e.div(coordinate, larger), square), larger));
  };
  return BinaryGradients(
      call, [&](const Emit& e) { return part(e, b); },
      [&](const Emit& e) { return e.neg(part(e, a)); });
}

}  // namespace

ir::OpDef Atan2() {
  ir::OpDef op = Binary("atan2",
                        "Angle of the point whose ordinate is a and whose abscissa is b, in [-π, "
                        "π], elementwise: C's atan2. At the origin the gradient is NaN.",
                        [](double a, double b) { return std::atan2(a, b); });
  op.vjp = VjpAtan2;
  op.samples = [] {
    using ir::Fill;
    auto samples = BinarySamples(Fill::Normal(0, 2), Fill::Uniform(0.5, 3));
    samples.push_back({{{{7}, Fill::Uniform(0.5, 3)}, {{7}, Fill::Normal(0, 2)}}});
    samples.push_back({{{{7}, Fill::Uniform(-300, -200)}, {{7}, Fill::Uniform(-400, -200)}}});
    samples.push_back({{{{6}, Fill::Values({0, -0.0, 0, -0.0, 1, -1})},
                        {{6}, Fill::Values({1, 1, -1, -1, 0, 0})}},
                       {},
                       false});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
