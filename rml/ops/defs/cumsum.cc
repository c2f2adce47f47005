// y[i] = Σ x[j] for j ≤ i
#include "rml/ops/scan.h"

namespace rml::ops {

ir::OpDef Cumsum() {
  ir::OpDef op = LineScan();
  op.name = "cumsum";
  op.doc =
      "Sum of the elements along `axis` up to each one; without itself if `exclusive`; from the "
      "end if `reverse`. Integers wrap.";
  op.types = {{"T", ir::kNumbers}};
  op.reference = [](ir::RefCall& call) -> core::Status {
    const bool exclusive = call.call().flag("exclusive");
    return call.VisitNumber(0, [&](auto zero) {
      using T = decltype(zero);
      const auto x = call.in<T>(0);
      const auto y = call.out<T>(0);
      return ForScanLines(call, [&](const ScanLine& line) {
        T sum = 0;
        for (int64_t i = 0; i < line.size; ++i) {
          const T before = sum;
          if constexpr (std::is_same_v<T, int64_t>) {
            sum = ir::WrapAdd(sum, x[line(i)]);
          } else {
            sum += x[line(i)];
          }
          y[line(i)] = exclusive ? before : sum;
        }
      });
    });
  };
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const ir::OpCall& c = call.call();
    const auto back = ScanAttributes(c, c.flag("exclusive"), !c.flag("reverse"));
    return {Emit(call.b()).one("cumsum", {call.grad(0)}, back)};
  };
  return op;
}

}  // namespace rml::ops
