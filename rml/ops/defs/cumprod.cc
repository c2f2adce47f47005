// y[i] = Π x[j] for j ≤ i
#include "rml/ops/scan.h"

namespace rml::ops {
namespace {

// With E the exclusive product, y's derivative for x[i] is E[i] times a product that starts after
// i: no division, so zeros do no harm. The sum of those products over all later gradients is a
// linear recurrence from the end.
ir::Values VjpCumprod(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  const ir::Value x = call.in(0);
  const ir::Value& g = call.grad(0);
  const bool reverse = c.flag("reverse");
  const auto back = ScanAttributes(c, true, !reverse);
  if (c.flag("exclusive")) return {e.mul(call.out(0), e.one("linear_scan", {x, g}, back))};
  const ir::Value before = e.one("cumprod", {x}, ScanAttributes(c, true, reverse));
  return {e.mul(before, e.add(g, e.one("linear_scan", {x, e.mul(x, g)}, back)))};
}

}  // namespace

ir::OpDef Cumprod() {
  ir::OpDef op = LineScan();
  op.name = "cumprod";
  op.doc =
      "Product of the elements along `axis` up to each one; without itself if `exclusive`; from "
      "the end if `reverse`. Integers wrap.";
  op.types = {{"T", ir::kNumbers}};
  op.reference = [](ir::RefCall& call) -> core::Status {
    const bool exclusive = call.call().flag("exclusive");
    return call.VisitNumber(0, [&](auto zero) {
      using T = decltype(zero);
      const auto x = call.in<T>(0);
      const auto y = call.out<T>(0);
      return ForScanLines(call, [&](const ScanLine& line) {
        T product = 1;
        for (int64_t i = 0; i < line.size; ++i) {
          const T before = product;
          if constexpr (std::is_same_v<T, int64_t>) {
            product = ir::WrapMul(product, x[line(i)]);
          } else {
            product *= x[line(i)];
          }
          y[line(i)] = exclusive ? before : product;
        }
      });
    });
  };
  op.vjp = VjpCumprod;
  op.samples = [] {
    auto samples = ScanSamples();
    const ir::SampleInput zeros = {{8}, ir::Fill::Values({2, 0.5, 0, -1, 3, 0, 1.5, 2})};
    samples.push_back({{zeros}});
    samples.push_back({{zeros}, {{"exclusive", true}, {"reverse", true}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
