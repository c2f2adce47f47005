// x with more elements before and after it along each axis.
#include "rml/ops/elementwise.h"
#include "rml/ops/padding.h"
#include "rml/ops/wide.h"

namespace rml::ops {
namespace {

core::Status ReferencePad(ir::RefCall& call) {
  const PadSource source(call.call(), call.in_shape(0));
  const double value = call.call().number("value");
  call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    const T outside = CastWide<double, T>(value, call.call().dtype(0));
    for (int64_t i = 0; i < y.size(); ++i) {
      Coordinates at = CoordinatesOf(i, y.shape());
      y[i] = source(at) ? x[PositionOf(at, x.shape())] : outside;
    }
  });
  return {};
}

ir::Values VjpPad(ir::ExprCall& call) {
  const Emit e(call.b());
  ir::Ints pads = call.call().ints("pads");
  const std::string& mode = call.call().text("mode");
  if (mode != "constant") {
    return {e.one("pad_grad", {call.grad(0)},
                  {{"pads", pads}, {"mode", mode}, {"shape", call.in(0).type().dims}})};
  }
  for (int64_t& pad : pads) pad = -pad;
  return {e.one("pad", {call.grad(0)}, {{"pads", pads}})};
}

}  // namespace

ir::OpDef Pad() {
  ir::OpDef op;
  op.name = "pad";
  op.doc =
      "`x` with pads[2 · axis] elements before and pads[2 · axis + 1] after it along each axis; "
      "negative ones take elements away. `mode`: constant (`value`); reflect (back from the last "
      "element, which is not repeated); edge (the nearest element); wrap (from the other end). "
      "ONNX's Pad lists all befores first.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", kFillable}};
  op.attributes = {{"pads", ir::RequiredAttr{ir::Ints()}}, {"mode", "constant"}, {"value", 0.0}};
  op.axes = ir::AxesRule(PadAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_ASSIGN(const ir::Dims dims, PaddedDims(call, call.input(0).dims));
    RML_TRY(CheckNumber("value", call.number("value"), call.dtype(0)));
    outputs->push_back({call.dtype(0), dims});
    return {};
  };
  op.reference = ReferencePad;
  op.vjp = VjpPad;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const PadCase& c : PadCases()) samples.push_back({{{c.x}}, c.attributes});
    samples.push_back({{{{2, 3}}}, {{"pads", ir::Ints{0, 0, 1, 1}}, {"value", 3.0}}});
    return samples;
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
