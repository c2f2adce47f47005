#include "rml/ops/remainder.h"

#include <limits>

namespace rml::ops {

using ir::Fill;

int64_t TruncatedRemainder(int64_t a, int64_t b) {
  if (b == 0) return a;
  return b == -1 ? 0 : a % b;  // the least integer over -1 traps
}

ir::OpDef Remainder(std::string_view name, std::string_view doc, double (*f)(double, double),
                    int64_t (*fi)(int64_t, int64_t)) {
  ir::OpDef op =
      Binary(name, doc, f, fi, [](uint64_t a, uint64_t b) { return b == 0 ? a : a % b; });
  op.vjp = [](ir::ExprCall& call) {
    return BinaryGradients(
        call, [&](const Emit&) { return call.grad(0); },
        [&](const Emit& e) {
          // Rounded, (a - y) / b is the quotient, however it was rounded.
          const ir::Value quotient =
              e.one("round", {e.div(e.sub(call.in(0), call.out(0)), call.in(1))});
          return e.neg(e.mul(call.grad(0), quotient));
        });
  };
  op.samples = [] {
    auto samples = BinarySamples(Fill::Normal(0, 5), Fill::Uniform(1, 3));
    const auto negative = BinarySamples(Fill::Normal(0, 5), Fill::Uniform(-3, -1));
    samples.insert(samples.end(), negative.begin(), negative.end());
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    samples.push_back({{{{10}, Fill::Values({7, -7, 7, -7, 6, -6, 5, -5, 0, -128})},
                        {{10}, Fill::Values({3, 3, -3, -3, 3, 3, kInfinity, kInfinity, 0, -1})}},
                       {},
                       false});
    return samples;
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
