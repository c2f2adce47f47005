// y = (Σ |x|ᵖ)^(1/p) over each window
#include "rml/ops/elementwise.h"
#include "rml/ops/pool.h"

namespace rml::ops {
namespace {

core::Status InferLpPool(const ir::OpCall& call, ir::Types* outputs) {
  if (call.integer("p") < 1)
    return core::InvalidArgument("p is ", call.integer("p"), ", expected at least 1");
  if (call.flag("ceil_mode")) return core::Unsupported("ceil_mode is for max_pool and avg_pool");
  RML_ASSIGN(const PoolGeometry g, PoolGeometryOf(call));
  RML_ASSIGN(const ir::Dims dims, PoolOutput(g, call.input(0).dims));
  outputs->push_back({call.dtype(0), dims});
  return {};
}

// A mean that counts padding, times the window's elements, is a sum.
ir::Values DecomposeLpPool(ir::ExprCall& call) {
  const Emit e(call.b());
  const int64_t p = call.call().integer("p");
  const ir::Value& x = call.in(0);
  ir::Value power = e.where(e.one("less", {x, e.like(x, 0)}), e.neg(x), x);
  if (p == 2) {
    power = e.mul(x, x);
  } else if (p > 2) {
    power = e.exp(e.mul(e.log(power), static_cast<double>(p)));
  }
  double elements = 1;
  for (const int64_t size : call.call().ints("kernel")) elements *= static_cast<double>(size);
  ir::AttrList attributes = PoolAttributesOf(call.call());
  attributes.push_back({"count_include_pad", true});
  const ir::Value sum = e.mul(e.one("avg_pool", {power}, attributes), elements);
  if (p == 1) return {sum};
  if (p == 2) return {e.sqrt(sum)};
  return {e.exp(e.mul(e.log(sum), 1 / static_cast<double>(p)))};
}

}  // namespace

ir::OpDef LpPool() {
  ir::OpDef op;
  op.name = "lp_pool";
  op.doc =
      "The p-norm of each window of `x` [batch, channels, place…]: `y = (Σ |x|ᵖ)^(1/p)`. `strides` "
      "are ones by default. At 0 its gradient is NaN for p > 1.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.attributes = PoolAttributes();
  op.attributes.push_back({"p", 2});
  op.axes = ir::AxesRule(PoolAxes);
  op.infer = InferLpPool;
  op.decompose = DecomposeLpPool;
  op.cost = PoolCost;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const PoolCase& c : PoolCases()) {
      bool ceil = false;
      for (const ir::NamedAttr& attr : c.attributes) ceil = ceil || attr.name == "ceil_mode";
      if (ceil) continue;
      ir::AttrList attributes = c.attributes;
      attributes.push_back({"p", static_cast<int64_t>(samples.size() % 3 + 1)});
      samples.push_back({{{c.x}}, attributes});
    }
    return samples;
  };
  return op;
}

}  // namespace rml::ops
