// y = (Σ |x|ᵖ)^(1/p) over each window
#include <algorithm>

#include "rml/ops/elementwise.h"
#include "rml/ops/norm.h"
#include "rml/ops/pool.h"

namespace rml::ops {
namespace {

core::Status InferLpPool(const ir::OpCall& call, ir::Types* outputs) {
  if (call.integer("p") < 1)
    return core::InvalidArgument("p is ", call.integer("p"), ", expected at least 1");
  RML_ASSIGN(const ir::Dims dims, PooledDims(call));
  outputs->push_back({call.dtype(0), dims});
  return {};
}

// Padding behind x with which windows that are not rounded up are those of `ceil_mode`.
ir::Ints PadsOfWholeWindows(const PoolGeometry& g, const ir::Dims& x, const ir::Dims& y) {
  ir::Ints pads = g.pads;
  for (int s = 0; s < g.spatial(); ++s) {
    const auto i = static_cast<size_t>(s);
    if (g.strides[i] == 1) continue;  // nothing is rounded, and the axis may be a symbol
    const int64_t reach = g.dilation[i] * (g.kernel[i] - 1) + 1;
    const int64_t end = (y[s + 2].value() - 1) * g.strides[i] + reach;
    pads[2 * i + 1] = std::max<int64_t>(0, end - x[s + 2].value() - g.pads[2 * i]);
  }
  return pads;
}

// A mean that counts padding, times the window's elements, is a sum. In f32 at least: powers and
// their sums leave f16 soon.
ir::Values DecomposeLpPool(ir::ExprCall& call) {
  const Emit e(call.b());
  const int64_t p = call.call().integer("p");
  const core::DType dtype = call.in(0).dtype();
  const ir::Value x = e.cast(call.in(0), StatType(dtype));
  ir::Value power = e.where(e.one("less", {x, e.like(x, 0)}), e.neg(x), x);
  if (p == 2) {
    power = e.mul(x, x);
  } else if (p > 2) {
    power = e.exp(e.mul(e.log(power), static_cast<double>(p)));
  }
  const PoolGeometry g = *PoolGeometryOf(call.call());
  double elements = 1;
  for (const int64_t size : g.kernel) elements *= static_cast<double>(size);
  const ir::Dims places = x.type().dims;
  const ir::Ints pads =
      g.ceil_mode ? PadsOfWholeWindows(g, places, *PooledDims(call.call())) : g.pads;
  const ir::Value means = e.one("avg_pool", {power},
                                {{"kernel", g.kernel},
                                 {"strides", g.strides},
                                 {"dilation", g.dilation},
                                 {"pads", pads},
                                 {"count_include_pad", true}});
  ir::Value y = e.mul(means, elements);
  if (p == 2) y = e.sqrt(y);
  if (p > 2) y = e.exp(e.mul(e.log(y), 1 / static_cast<double>(p)));
  return {e.cast(y, dtype)};
}

}  // namespace

ir::OpDef LpPool() {
  ir::OpDef op;
  op.name = "lp_pool";
  op.doc =
      "The p-norm of each window of `x` [batch, channels, place…]: `y = (Σ |x|ᵖ)^(1/p)`. "
      "`strides` are ones by default; padding is zeros, and with `ceil_mode` a last window may "
      "reach over the end, as in `max_pool`, and sums what it has (PyTorch scales it up to a "
      "whole window). At 0 its gradient is NaN for p > 1.";
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
      ir::AttrList attributes = c.attributes;
      attributes.push_back({"p", static_cast<int64_t>(samples.size() % 3 + 1)});
      samples.push_back({{{c.x}}, attributes});
    }
    return samples;
  };
  return op;
}

}  // namespace rml::ops
