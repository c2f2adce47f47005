// The gradient of avg_pool: each window's share, back to its elements.
#include "rml/ops/elementwise.h"
#include "rml/ops/pool.h"

namespace rml::ops {
namespace {

// x's dimensions: the batch and channels of y, and the places in the attribute.
ir::Dims InputDims(const ir::OpCall& call) {
  ir::Dims dims = {call.dim(0, 0), call.dim(0, 1)};
  for (const ir::Dim size : call.attr<ir::Dims>("sizes")) dims.Append(size);
  return dims;
}

core::Status InferAvgPoolGrad(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const PoolGeometry g, PoolGeometryOf(call));
  if (call.attr<ir::Dims>("sizes").rank() != g.spatial()) {
    return core::InvalidArgument("sizes has ", call.attr<ir::Dims>("sizes").rank(),
                                 " numbers, expected ", g.spatial());
  }
  const ir::Dims dims = InputDims(call);
  RML_ASSIGN(const ir::Dims y, PoolOutput(g, dims));
  if (!(y == call.input(0).dims)) {
    return core::InvalidArgument("y is ", call.input(0).dims.ToString(), ", and pooling makes ",
                                 y.ToString(), " of ", dims.ToString());
  }
  outputs->push_back({call.dtype(0), dims});
  return {};
}

core::Status ReferenceAvgPoolGrad(ir::RefCall& call) {
  RML_ASSIGN(const PoolGeometry g, PoolGeometryOf(call.call()));
  const bool padding = call.call().flag("count_include_pad");
  const auto y = call.in<double>(0);
  const auto x = call.out<double>(0);
  return ForWindows(g, x.shape(), y.shape(),
                    [&](int64_t to, std::span<const int64_t> from, int64_t padded) -> core::Status {
                      const double share =
                          y[to] /
                          static_cast<double>(padding ? padded : static_cast<int64_t>(from.size()));
                      for (const int64_t at : from) x[at] += share;
                      return {};
                    });
}

}  // namespace

ir::OpDef AvgPoolGrad() {
  ir::OpDef op;
  op.name = "avg_pool_grad";
  op.doc =
      "The gradient of `avg_pool` of the same attributes for an input whose spatial axes have "
      "`sizes` elements.";
  op.inputs = {{"y"}};
  op.outputs = {{"x"}};
  op.attributes = PoolAttributes();
  op.attributes.push_back({"count_include_pad", false});
  op.attributes.push_back({"sizes", ir::RequiredAttr{ir::Dims()}});
  op.axes = ir::AxesRule(PoolAxes);
  op.infer = InferAvgPoolGrad;
  op.reference = ReferenceAvgPoolGrad;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    ir::AttrList attributes = PoolAttributesOf(call.call());
    attributes.push_back({"count_include_pad", call.call().flag("count_include_pad")});
    return {Emit(call.b()).one("avg_pool", {call.grad(0)}, attributes)};
  };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const PoolCase& c : PoolCases()) {
      for (const bool padding : {false, true}) {
        ir::AttrList attributes = c.attributes;
        attributes.push_back({"count_include_pad", padding});
        attributes.push_back({"sizes", ir::Dims(ir::Dims(c.x).span().subspan(2))});
        samples.push_back({{{c.y}}, attributes});
      }
    }
    return samples;
  };
  return op;
}

}  // namespace rml::ops
