// y = a^b
#include <cmath>

#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

uint64_t PowUnsigned(uint64_t a, uint64_t b) {
  uint64_t y = 1;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) y *= a;
    a *= a;
  }
  return y;
}

int64_t PowSigned(int64_t a, int64_t b) {
  if (b >= 0)
    return static_cast<int64_t>(PowUnsigned(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  if (a == 1) return 1;
  if (a == -1) return b % 2 == 0 ? 1 : -1;
  return 0;
}

ir::Values VjpPow(ir::ExprCall& call) {
  const ir::Value a = call.in(0);
  const ir::Value b = call.in(1);
  const ir::Value& g = call.grad(0);
  return BinaryGradients(
      call,
      [&](const Emit& e) {
        // 0⁰ is 1 for every base near 0: not 0 · 0⁻¹.
        const ir::Value flat = e.one(
            "logical_and", {e.one("equal", {a, e.like(a, 0)}), e.one("equal", {b, e.like(b, 0)})});
        const ir::Value less = e.where(flat, e.like(b, 1), e.add(b, -1));
        return e.mul(g, e.mul(b, e.one("pow", {a, less})));
      },
      [&](const Emit& e) {
        // 0ᵇ stays 0 for every positive b: not 0 · ln 0.
        const ir::Value flat = e.one("logical_and", {e.one("equal", {a, e.like(a, 0)}),
                                                     e.one("greater_equal", {b, e.like(b, 0)})});
        return e.mul(g, e.mul(call.out(0), e.log(e.where(flat, e.like(a, 1), a))));
      });
}

}  // namespace

ir::OpDef Pow() {
  ir::OpDef op = Binary(
      "pow",
      "Power, elementwise: `y = aᵇ`, C's pow; 0⁰ is 1. Integers wrap; a negative power of an "
      "integer is 0, but for 1 and -1. The gradient for b is NaN where a is negative.",
      [](double a, double b) { return std::pow(a, b); }, PowSigned, PowUnsigned);
  op.vjp = VjpPow;
  op.samples = [] {
    using ir::Fill;
    auto samples = BinarySamples(Fill::Uniform(0.3, 3), Fill::Uniform(-2, 3));
    samples.push_back({{{{8}, Fill::Values({0, 0, 0, 0, -2, -2, -1, 1})},
                        {{8}, Fill::Values({0, 1, 2, -1, 3, -3, -5, -4})}},
                       {},
                       false});
    samples.push_back(
        {{{{6}, Fill::Values({0, 0, -2, 3, 0.5, 1e4})}, {{}, Fill::Values({2})}}, {}, false});
    samples.push_back(
        {{{{7}, Fill::Normal(0, 20)}, {{7}, Fill::Values({0, 1, 2, 3, 9, 33, 64})}}, {}, false});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
