// The mean of each window.
#include "rml/ops/elementwise.h"
#include "rml/ops/pool.h"

namespace rml::ops {
namespace {

core::Status ReferenceAvgPool(ir::RefCall& call) {
  RML_ASSIGN(const PoolGeometry g, PoolGeometryOf(call.call()));
  const bool padding = call.call().flag("count_include_pad");
  const auto x = call.in<double>(0);
  const auto y = call.out<double>(0);
  return ForWindows(
      g, x.shape(), y.shape(),
      [&](int64_t to, std::span<const int64_t> from, int64_t padded) -> core::Status {
        double sum = 0;
        for (const int64_t at : from) sum += x[at];
        y[to] = sum / static_cast<double>(padding ? padded : static_cast<int64_t>(from.size()));
        return {};
      });
}

}  // namespace

ir::OpDef AvgPool() {
  ir::OpDef op;
  op.name = "avg_pool";
  op.doc =
      "The mean of each window of `x` [batch, channels, place…]: of its elements in x, or with "
      "`count_include_pad` of padding as well, as zeros (what a last window of `ceil_mode` has "
      "behind the padding is never counted). `strides` are ones by default.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.attributes = PoolAttributes();
  op.attributes.push_back({"count_include_pad", false});
  op.axes = ir::AxesRule(PoolAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_ASSIGN(const ir::Dims dims, PooledDims(call));
    outputs->push_back({call.dtype(0), dims});
    return {};
  };
  op.reference = ReferenceAvgPool;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    ir::AttrList attributes = PoolAttributesOf(call.call());
    attributes.push_back({"count_include_pad", call.call().flag("count_include_pad")});
    attributes.push_back({"sizes", ir::Dims(call.in(0).type().dims.span().subspan(2))});
    return {Emit(call.b()).one("avg_pool_grad", {call.grad(0)}, attributes)};
  };
  op.cost = PoolCost;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const PoolCase& c : PoolCases()) {
      for (const bool padding : {false, true}) {
        ir::AttrList attributes = c.attributes;
        attributes.push_back({"count_include_pad", padding});
        samples.push_back({{{c.x}}, attributes});
      }
    }
    return samples;
  };
  return op;
}

}  // namespace rml::ops
