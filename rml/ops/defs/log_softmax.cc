// y = x - log Σ eˣ along an axis
#include "rml/ops/elementwise.h"
#include "rml/ops/norm.h"
#include "rml/ops/softmax.h"

namespace rml::ops {
ir::OpDef LogSoftmax() {
  ir::OpDef op;
  op.name = "log_softmax";
  op.doc = "`y = x - log Σ eˣ` along `axis`, computed from x less its largest element.";
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
        call, [&](int64_t at, double exponent, double sum) { y[at] = exponent - std::log(sum); });
  };
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    // In f32 at least: a sum over many classes may be beyond 65,504, where f16 ends.
    const core::DType dtype = call.in(0).dtype();
    const core::DType wide = StatType(dtype);
    const ir::Value g = e.cast(call.grad(0), wide);
    const ir::Value total = e.sum(g, {call.call().integer("axis")}, true);
    return {e.cast(e.sub(g, e.mul(e.exp(e.cast(call.out(0), wide)), total)), dtype)};
  };
  op.cost = [](const ir::OpCall& call) { return PassCost(call, 4); };
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{1}}}},
        {{{{7}}}},
        {{{{3, 5}}}, {{"axis", 0}}},
        {{{{2, 3, 33}, ir::Fill::Normal(0, 20)}}},
        {{{{2, 3}, ir::Fill::Values({1000, -1000, 0})}}},
        {{{{0, 4}}}},
        {{{{2, 4, 3}}}, {{"axis", 1}}},
    };
  };
  return op;
}

}  // namespace rml::ops
