// The gradient of pad: every element goes back to where it was taken from.
#include "rml/ops/elementwise.h"
#include "rml/ops/padding.h"

namespace rml::ops {
namespace {

core::Status InferPadGrad(const ir::OpCall& call, ir::Types* outputs) {
  const ir::Dims& dims = call.attr<ir::Dims>("shape");
  RML_ASSIGN(const ir::Dims padded, PaddedDims(call, dims));
  if (!(padded == call.input(0).dims)) {
    return core::InvalidArgument("grad is ", call.input(0).dims.ToString(), ", and a padded ",
                                 dims.ToString(), " is ", padded.ToString());
  }
  outputs->push_back({call.dtype(0), dims});
  return {};
}

core::Status ReferencePadGrad(ir::RefCall& call) {
  const auto grad = call.in<double>(0);
  const auto x = call.out<double>(0);
  const PadSource source(call.call(), x.shape());
  for (int64_t i = 0; i < grad.size(); ++i) {
    Coordinates at = CoordinatesOf(i, grad.shape());
    if (source(at)) x[PositionOf(at, x.shape())] += grad[i];
  }
  return {};
}

core::Expected<ir::AttrList> Localize(const ir::OpCall& call, const ir::AxisPiece& piece) {
  ir::Dims dims = call.attr<ir::Dims>("shape");
  dims[AxisNumber(piece)] = piece.size;
  return ir::AttrList{{"shape", dims}, {"pads", call.ints("pads")}, {"mode", call.text("mode")}};
}

}  // namespace

ir::OpDef PadGrad() {
  ir::OpDef op;
  op.name = "pad_grad";
  op.doc = "The gradient of `pad` for its input, which had the dimensions `shape`.";
  op.inputs = {{"grad"}};
  op.outputs = {{"d_x"}};
  op.attributes = {{"pads", ir::RequiredAttr{ir::Ints()}},
                   {"mode", "constant"},
                   {"shape", ir::RequiredAttr{ir::Dims()}}};
  op.axes = ir::AxesRule(PadAxes);
  op.infer = InferPadGrad;
  op.reference = ReferencePadGrad;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    return {Emit(call.b()).one(
        "pad", {call.grad(0)},
        {{"pads", call.call().ints("pads")}, {"mode", call.call().text("mode")}})};
  };
  op.localize = Localize;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const PadCase& c : PadCases()) {
      ir::AttrList attributes = c.attributes;
      attributes.push_back({"shape", ir::Dims(c.x)});
      samples.push_back({{{c.y}}, attributes});
    }
    return samples;
  };
  return op;
}

}  // namespace rml::ops
