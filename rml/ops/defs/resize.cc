// An image, or a line or a volume, at another resolution.
#include "rml/ops/elementwise.h"
#include "rml/ops/resample.h"

namespace rml::ops {
namespace {

core::Status InferResize(const ir::OpCall& call, ir::Types* outputs) {
  RML_TRY(CheckResize(call));
  RML_ASSIGN(const ir::Dims dims, WithSizes(call.input(0).dims, call.attr<ir::Dims>("sizes")));
  RML_TRY(CheckNotEmpty(call.input(0).dims, dims));
  outputs->push_back({call.dtype(0), dims});
  return {};
}

core::Status ReferenceResize(ir::RefCall& call) {
  const auto from = call.in<double>(0);
  const auto to = call.out<double>(0);
  std::vector<AxisTaps> taps;
  for (int axis = 2; axis < from.rank(); ++axis)
    taps.push_back(ResizeTaps(call.call(), axis - 2, from.dim(axis), to.dim(axis)));
  ForTaps(from.shape(), to.shape(), taps,
          [&](int64_t y, int64_t x, double weight) { to[y] += weight * from[x]; });
  return {};
}

}  // namespace

ir::OpDef Resize() {
  ir::OpDef op;
  op.name = "resize";
  op.doc =
      "`x` [batch, channels, place…] with `sizes` places along its spatial axes. `mode`: nearest "
      "or linear "
      "(bilinear, trilinear); the border repeats outside. `coordinates` of place i of n, in x: "
      "half_pixel, (i + ½) "
      "· size / n - ½; asymmetric, i · size / n; align_corners, i · (size - 1) / (n - 1). "
      "`scales`, if given, are used for n "
      "/ size, as ONNX does where n was rounded. `rounding` of nearest: prefer_floor, prefer_ceil "
      "(of halves), "
      "floor or ceil. PyTorch's nearest is asymmetric with floor.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.attributes = ResizeAttributes();
  op.attributes.push_back({"sizes", ir::RequiredAttr{ir::Dims()}});
  op.axes = ir::AxesRule(ResampleAxes);
  op.infer = InferResize;
  op.reference = ReferenceResize;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    ir::AttrList attributes = ResizeAttributesOf(call.call());
    attributes.push_back({"sizes", SizesOf(call.in(0).type().dims)});
    return {Emit(call.b()).one("resize_grad", {call.grad(0)}, attributes)};
  };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    const std::vector<std::pair<core::Shape, core::Shape>> cases = {
        {{1, 1, 1}, {1, 1, 3}},
        {{2, 3, 5}, {2, 3, 7}},
        {{1, 2, 4, 5}, {1, 2, 2, 10}},
        {{1, 1, 7}, {1, 1, 1}},
        {{1, 1, 2, 3, 2}, {1, 1, 3, 2, 4}},
        {{0, 2, 4}, {0, 2, 2}}};
    for (const char* mode : {"nearest", "linear"}) {
      for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners"}) {
        for (const auto& [x, y] : cases)
          samples.push_back(
              {{{x}}, {{"sizes", SizesOf(y)}, {"mode", mode}, {"coordinates", coordinates}}});
      }
    }
    for (const char* rounding : {"prefer_ceil", "floor", "ceil"})
      samples.push_back(
          {{{core::Shape{1, 1, 4}}}, {{"sizes", ir::Dims{6}}, {"rounding", rounding}}});
    samples.push_back({{{core::Shape{1, 1, 5}}},
                       {{"sizes", ir::Dims{8}}, {"mode", "linear"}, {"scales", ir::Floats{1.7}}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
