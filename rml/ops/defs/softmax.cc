// y = eˣ / Σ eˣ along an axis
#include "rml/ops/softmax.h"
#include "rml/ops/elementwise.h"

namespace rml::ops {
ir::OpDef Softmax() {
  ir::OpDef op;
  op.name = "softmax";
  op.doc = "`y = eˣ / Σ eˣ` along `axis`, computed from x less its largest element.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.attributes = {{"axis", -1}};
  op.axes = ir::AxesRule(AxesButOne);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(call.axis("axis", call.rank(0)));
    return InferLikeFirst(call, outputs);
  };
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto y = call.out<double>(0);
    return ForExponents(
        call, [&](int64_t at, double exponent, double sum) { y[at] = std::exp(exponent) / sum; });
  };
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const int64_t axis = call.call().integer("axis");
    const ir::Value weighted = e.mul(call.grad(0), call.out(0));
    return {e.sub(weighted, e.mul(call.out(0), e.sum(weighted, {axis}, true)))};
  };
  op.cost = [](const ir::OpCall& call) { return PassCost(call, 5); };
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{1}}}},
        {{{{7}}}},
        {{{{3, 5}}}},
        {{{{3, 5}}}, {{"axis", 0}}},
        {{{{2, 3, 33}, ir::Fill::Normal(0, 20)}}},
        {{{{0, 4}}}},
        {{{{2, 4, 3}}}, {{"axis", 1}}},
    };
  };
  return op;
}

}  // namespace rml::ops
