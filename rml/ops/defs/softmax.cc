// y = eˣ / Σ eˣ along an axis
#include <algorithm>
#include <cmath>
#include <limits>

#include "rml/ops/elementwise.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {
namespace {

core::Status ReferenceSoftmax(ir::RefCall& call) {
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
        y[view.at(o, i, in)] = std::exp(x[view.at(o, i, in)] - largest) / sum;
    }
  }
  return {};
}

}  // namespace

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
  op.reference = ReferenceSoftmax;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const int64_t axis = call.call().integer("axis");
    const ir::Value weighted = e.mul(call.grad(0), call.out(0));
    return {e.sub(weighted, e.mul(call.out(0), e.sum(weighted, {axis}, true)))};
  };
  op.cost = [](const ir::OpCall& call) {
    const double elements = static_cast<double>(call.input(0).dims.elements().max());
    const double bytes = elements * core::Info(call.dtype(0)).block_bytes;
    return ir::Cost{5 * elements, bytes, bytes};
  };
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
