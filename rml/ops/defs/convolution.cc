// y[n, o, p] = Σ_{c, k} x[n, c, p · stride + k · dilation - pad] · w[o, c, k] (+ bias[o])
#include "rml/ops/convolution.h"

#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status InferConvolution(const ir::OpCall& call, ir::Types* outputs) {
  if (call.rank(0) < 3 || call.rank(1) != call.rank(0)) {
    return core::InvalidArgument("x has ", call.rank(0), " dimensions and w ", call.rank(1),
                                 ", expected equally many and at least 3");
  }
  RML_ASSIGN(const ConvGeometry g, GeometryOf(call, call.rank(0) - 2));
  RML_ASSIGN(const ir::Dims dims, ConvOutput(g, call.input(0).dims, call.input(1).dims));
  outputs->push_back({call.dtype(0), dims});
  return {};
}

core::Status ReferenceConvolution(ir::RefCall& call) {
  const auto x = call.in<double>(0);
  const auto w = call.in<double>(1);
  const auto y = call.out<double>(0);
  RML_ASSIGN(const ConvGeometry g, GeometryOf(call.call(), x.rank() - 2));
  ForProducts(g, x.shape(), w.shape(), y.shape(),
              [&](int64_t to, int64_t from, int64_t k) { y[to] += x[from] * w[k]; });
  return {};
}

ir::Values VjpConvolution(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  ir::AttrList attributes = {{"strides", c.ints("strides")},
                             {"pads", c.ints("pads")},
                             {"dilation", c.ints("dilation")},
                             {"groups", c.integer("groups")}};
  ir::Values grads(size_t{2});
  attributes.push_back({"shape", call.in(0).type().dims});
  if (call.needs(0))
    grads[0] = e.one("convolution_input_grad", {call.grad(0), call.in(1)}, attributes);
  attributes.back() = {"shape", call.in(1).type().dims};
  if (call.needs(1))
    grads[1] = e.one("convolution_weight_grad", {call.in(0), call.grad(0)}, attributes);
  return grads;
}

}  // namespace

ir::OpDef Convolution() {
  ir::OpDef op;
  op.name = "convolution";
  op.doc =
      "Cross-correlation over any number of spatial axes, as ONNX's Conv: `x` is [batch, channels, "
      "spatial…], `w` [outputs, channels / "
      "groups, window…]. `pads` holds zeros before and after each axis, [before0, after0, before1, "
      "…].";
  op.inputs = {{"x"}, {"w"}};
  op.outputs = {{"y"}};
  op.attributes = ConvAttributes();
  op.axes = ir::AxesRule(
      [](const ir::OpCall& call) { return ConvAxes(call, call.integer("groups"), 0, 1, 2); });
  op.infer = InferConvolution;
  op.reference = ReferenceConvolution;
  op.vjp = VjpConvolution;
  op.cost = [](const ir::OpCall& call) {
    const auto g = GeometryOf(call, call.rank(0) - 2);
    return ConvCost(call, call.input(1).dims,
                    *ConvOutput(*g, call.input(0).dims, call.input(1).dims));
  };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const auto& [x, rest] : ConvCases()) samples.push_back({{{x}, {rest.first}}, rest.second});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
