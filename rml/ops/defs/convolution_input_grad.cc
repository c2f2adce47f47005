// The gradient of a convolution's input; also the transposed convolution.
#include "rml/ops/convolution.h"
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status InferConvolutionInputGrad(const ir::OpCall& call, ir::Types* outputs) {
  const ir::Dims& x = call.attr<ir::Dims>("shape");
  if (call.rank(0) < 3 || call.rank(1) != call.rank(0) || x.rank() != call.rank(0)) {
    return core::InvalidArgument("grad has ", call.rank(0), " dimensions, w ", call.rank(1),
                                 " and shape ", x.rank(), ", expected equally many and at least 3");
  }
  RML_ASSIGN(const ConvGeometry g, GeometryOf(call, call.rank(0) - 2));
  RML_ASSIGN(const ir::Dims y, ConvOutput(g, x, call.input(1).dims));
  if (!(y == call.input(0).dims)) {
    return core::InvalidArgument("grad is ", call.input(0).dims.ToString(),
                                 ", and a convolution of ", x.ToString(), " gives ", y.ToString());
  }
  outputs->push_back({call.dtype(0), x});
  return {};
}

core::Status ReferenceConvolutionInputGrad(ir::RefCall& call) {
  const auto grad = call.in<double>(0);
  const auto w = call.in<double>(1);
  const auto dx = call.out<double>(0);
  RML_ASSIGN(const ConvGeometry g, GeometryOf(call.call(), grad.rank() - 2));
  ForProducts(g, dx.shape(), w.shape(), grad.shape(),
              [&](int64_t to, int64_t from, int64_t k) { dx[from] += grad[to] * w[k]; });
  return {};
}

ir::Values VjpConvolutionInputGrad(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  ir::AttrList attributes = {{"strides", c.ints("strides")},
                             {"pads", c.ints("pads")},
                             {"dilation", c.ints("dilation")},
                             {"groups", c.integer("groups")}};
  ir::Values grads(size_t{2});
  if (call.needs(0)) grads[0] = e.one("convolution", {call.grad(0), call.in(1)}, attributes);
  attributes.push_back({"shape", call.in(1).type().dims});
  if (call.needs(1))
    grads[1] = e.one("convolution_weight_grad", {call.grad(0), call.in(0)}, attributes);
  return grads;
}

}  // namespace

ir::OpDef ConvolutionInputGrad() {
  ir::OpDef op;
  op.name = "convolution_input_grad";
  op.doc =
      "The gradient of `convolution` for its input of dimensions `shape`, from that of its output. "
      "It is the transposed convolution.";
  op.inputs = {{"grad"}, {"w"}};
  op.outputs = {{"dx"}};
  op.attributes = ConvAttributes();
  op.attributes.push_back({"shape", ir::RequiredAttr{ir::Dims()}});
  op.axes = ir::AxesRule(
      [](const ir::OpCall& call) { return ConvAxes(call, call.integer("groups"), 2, 1, 0); });
  op.localize = [](const ir::OpCall& call,
                   const ir::AxisPiece& piece) -> core::Expected<ir::AttrList> {
    ir::Dims dims = call.attr<ir::Dims>("shape");
    if (piece.axis == "batch") dims[0] = piece.size;
    if (piece.axis == "channels") dims[1] = piece.size;
    return ir::AttrList{{"shape", dims}};
  };
  op.infer = InferConvolutionInputGrad;
  op.reference = ReferenceConvolutionInputGrad;
  op.vjp = VjpConvolutionInputGrad;
  op.cost = [](const ir::OpCall& call) {
    return ConvCost(call, call.input(1).dims, call.input(0).dims);
  };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const auto& [x, rest] : ConvCases()) {
      ir::AttrList attributes = rest.second;
      attributes.push_back({"shape", ir::Dims(x)});
      samples.push_back({{{ConvCaseOutput(x, rest.first, rest.second)}, {rest.first}}, attributes});
    }
    return samples;
  };
  return op;
}

}  // namespace rml::ops
