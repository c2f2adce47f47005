// The gradient of a convolution's weights.
#include "rml/ops/convolution.h"
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status InferConvolutionWeightGrad(const ir::OpCall& call, ir::Types* outputs) {
  const ir::Dims& w = call.attr<ir::Dims>("shape");
  if (call.rank(0) < 3 || call.rank(1) != call.rank(0) || w.rank() != call.rank(0)) {
    return core::InvalidArgument("x has ", call.rank(0), " dimensions, grad ", call.rank(1),
                                 " and shape ", w.rank(), ", expected equally many and at least 3");
  }
  RML_ASSIGN(const ConvGeometry g, GeometryOf(call, call.rank(0) - 2));
  RML_ASSIGN(const ir::Dims y, ConvOutput(g, call.input(0).dims, w));
  if (!(y == call.input(1).dims)) {
    return core::InvalidArgument("grad is ", call.input(1).dims.ToString(),
                                 ", and a convolution with ", w.ToString(), " gives ",
                                 y.ToString());
  }
  outputs->push_back({call.dtype(0), w});
  return {};
}

core::Status ReferenceConvolutionWeightGrad(ir::RefCall& call) {
  const auto x = call.in<double>(0);
  const auto grad = call.in<double>(1);
  const auto dw = call.out<double>(0);
  RML_ASSIGN(const ConvGeometry g, GeometryOf(call.call(), x.rank() - 2));
  ForProducts(g, x.shape(), dw.shape(), grad.shape(),
              [&](int64_t to, int64_t from, int64_t k) { dw[k] += grad[to] * x[from]; });
  return {};
}

ir::Values VjpConvolutionWeightGrad(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  ir::AttrList attributes = {{"strides", c.ints("strides")},
                             {"pads", c.ints("pads")},
                             {"dilation", c.ints("dilation")},
                             {"groups", c.integer("groups")}};
  ir::Values grads(size_t{2});
  if (call.needs(1)) grads[1] = e.one("convolution", {call.in(0), call.grad(0)}, attributes);
  attributes.push_back({"shape", call.in(0).type().dims});
  if (call.needs(0))
    grads[0] = e.one("convolution_input_grad", {call.in(1), call.grad(0)}, attributes);
  return grads;
}

}  // namespace

ir::OpDef ConvolutionWeightGrad() {
  ir::OpDef op;
  op.name = "convolution_weight_grad";
  op.doc =
      "The gradient of `convolution` for its weights of dimensions `shape`, from its input and its "
      "output's gradient.";
  op.inputs = {{"x"}, {"grad"}};
  op.outputs = {{"dw"}};
  op.attributes = ConvAttributes();
  op.attributes.push_back({"shape", ir::RequiredAttr{ir::Dims()}});
  op.axes = ir::AxesRule(
      [](const ir::OpCall& call) { return ConvAxes(call, call.integer("groups"), 0, 2, 1); });
  op.localize = [](const ir::OpCall& call,
                   const ir::AxisPiece& piece) -> core::Expected<ir::AttrList> {
    ir::Dims dims = call.attr<ir::Dims>("shape");
    if (piece.axis == "outputs") dims[0] = piece.size;
    if (piece.axis == "channels") dims[1] = piece.size;
    return ir::AttrList{{"shape", dims}};
  };
  op.infer = InferConvolutionWeightGrad;
  op.reference = ReferenceConvolutionWeightGrad;
  op.vjp = VjpConvolutionWeightGrad;
  op.cost = [](const ir::OpCall& call) {
    return ConvCost(call, call.attr<ir::Dims>("shape"), call.input(1).dims);
  };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const auto& [x, rest] : ConvCases()) {
      ir::AttrList attributes = rest.second;
      attributes.push_back({"shape", ir::Dims(rest.first)});
      samples.push_back({{{x}, {ConvCaseOutput(x, rest.first, rest.second)}}, attributes});
    }
    return samples;
  };
  return op;
}

}  // namespace rml::ops
