// The gradient of resize.
#include "rml/ops/elementwise.h"
#include "rml/ops/resample.h"

namespace rml::ops {
namespace {

core::Status InferResizeGrad(const ir::OpCall& call, ir::Types* outputs) {
  RML_TRY(CheckResize(call));
  RML_ASSIGN(const ir::Dims dims, WithSizes(call.input(0).dims, call.attr<ir::Dims>("sizes")));
  RML_TRY(CheckNotEmpty(dims, call.input(0).dims));
  outputs->push_back({call.dtype(0), dims});
  return {};
}

core::Status ReferenceResizeGrad(ir::RefCall& call) {
  const auto from = call.in<double>(0);
  const auto to = call.out<double>(0);
  std::vector<AxisTaps> taps;
  for (int axis = 2; axis < from.rank(); ++axis)
    taps.push_back(ResizeTaps(call.call(), axis - 2, to.dim(axis), from.dim(axis)));
  ForTaps(to.shape(), from.shape(), taps,
          [&](int64_t y, int64_t x, double weight) { to[x] += weight * from[y]; });
  return {};
}

}  // namespace

ir::OpDef ResizeGrad() {
  ir::OpDef op;
  op.name = "resize_grad";
  op.doc =
      "The gradient of `resize` of the same attributes for an input whose spatial axes have "
      "`sizes` elements.";
  op.inputs = {{"y"}};
  op.outputs = {{"x"}};
  op.attributes = ResizeAttributes();
  op.attributes.push_back({"sizes", ir::RequiredAttr{ir::Dims()}});
  op.axes = ir::AxesRule(ResampleAxes);
  op.infer = InferResizeGrad;
  op.reference = ReferenceResizeGrad;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    ir::AttrList attributes = ResizeAttributesOf(call.call());
    attributes.push_back({"sizes", SizesOf(call.in(0).type().dims)});
    return {Emit(call.b()).one("resize", {call.grad(0)}, attributes)};
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
              {{{y}}, {{"sizes", SizesOf(x)}, {"mode", mode}, {"coordinates", coordinates}}});
      }
    }
    for (const char* rounding : {"prefer_ceil", "floor", "ceil"})
      samples.push_back(
          {{{core::Shape{1, 1, 6}}}, {{"sizes", ir::Dims{4}}, {"rounding", rounding}}});
    samples.push_back({{{core::Shape{1, 1, 8}}},
                       {{"sizes", ir::Dims{5}}, {"mode", "linear"}, {"scales", ir::Floats{1.7}}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
