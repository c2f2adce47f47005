// y = x - log Σ eˣ along an axis
#include <algorithm>
#include <cmath>
#include <limits>

#include "rml/ops/elementwise.h"
#include "rml/ops/norm.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {
namespace {

core::Status ReferenceLogSoftmax(ir::RefCall& call) {
  const auto x = call.in<double>(0);
  const auto y = call.out<double>(0);
  RML_ASSIGN(const int axis, call.call().axis("axis", x.rank()));
  const AxisView view(x.shape(), axis);
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t in = 0; in < view.inner; ++in) {
      double largest = -std::numeric_limits<double>::infinity();
      for (int64_t i = 0; i < view.size; ++i) largest = std::max(largest, x[view.at(o, i, in)]);
      double sum = 0;
      for (int64_t i = 0; i < view.size; ++i) sum += std::exp(x[view.at(o, i, in)] - largest);
      for (int64_t i = 0; i < view.size; ++i)
        y[view.at(o, i, in)] = x[view.at(o, i, in)] - largest - std::log(sum);
    }
  }
  return {};
}

}  // namespace

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
  op.reference = ReferenceLogSoftmax;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    // In f32 at least: a sum over many classes may be beyond 65,504, where f16 ends.
    const core::DType dtype = call.in(0).dtype();
    const core::DType wide = StatType(dtype);
    const ir::Value g = e.cast(call.grad(0), wide);
    const ir::Value total = e.sum(g, {call.call().integer("axis")}, true);
    return {e.cast(e.sub(g, e.mul(e.exp(e.cast(call.out(0), wide)), total)), dtype)};
  };
  op.cost = [](const ir::OpCall& call) {
    const double elements = static_cast<double>(call.input(0).dims.elements().max());
    const double bytes = elements * core::Info(call.dtype(0)).block_bytes;
    return ir::Cost{4 * elements, bytes, bytes};
  };
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
