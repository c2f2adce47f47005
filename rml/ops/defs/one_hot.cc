// y[…, c, …] = on where indices[…] = c, else off
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"
#include "rml/ops/wide.h"

namespace rml::ops {
namespace {

core::Status InferOneHot(const ir::OpCall& call, ir::Types* outputs) {
  RML_TRY(CheckRank(call.rank(0) + 1));
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0) + 1));
  const ir::Dims& depth = call.attr<ir::Dims>("depth");
  if (depth.rank() != 1) return core::InvalidArgument("depth is not one dimension");
  const auto dtype = call.attr<core::DType>("dtype");
  if (!kFillable.Has(dtype))
    return core::Unsupported("dtype is ", core::Name(dtype), ", expected one of ",
                             kFillable.ToString());
  for (const std::string_view name : {"on", "off"})
    RML_TRY(CheckNumber(name, call.number(name), dtype));
  ir::Type type = {dtype, call.input(0).dims};
  type.dims.Insert(axis, depth[0]);
  outputs->push_back(type);
  return {};
}

core::Status ReferenceOneHot(ir::RefCall& call) {
  const auto indices = call.in<int64_t>(0);
  const core::Shape& shape = call.out_shape(0);
  RML_ASSIGN(const int axis, call.call().axis("axis", shape.rank()));
  const AxisView view(shape, axis);
  const auto dtype = call.call().attr<core::DType>("dtype");
  call.VisitOut(0, [&](auto zero) {
    using T = decltype(zero);
    const auto y = call.out<T>(0);
    const T on = CastWide<double, T>(call.call().number("on"), dtype);
    const T off = CastWide<double, T>(call.call().number("off"), dtype);
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t c = 0; c < view.size; ++c) {
        for (int64_t in = 0; in < view.inner; ++in) {
          const int64_t index = indices[o * view.inner + in];
          const bool here = index == c || index == c - view.size;
          y[view.at(o, c, in)] = here ? on : off;
        }
      }
    }
  });
  return {};
}

core::Expected<ir::Axes> ResolveOneHot(const ir::OpCall& call) {
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0) + 1));
  ir::Axes axes;
  for (int i = 0; i < call.rank(0); ++i) axes.push_back(FreeAxis(i, {i}, {i < axis ? i : i + 1}));
  return axes;
}

}  // namespace

ir::OpDef OneHot() {
  ir::OpDef op;
  op.name = "one_hot";
  op.doc =
      "`on` where the place along a new axis of `depth` elements, which is `axis` of the result, "
      "is the index, and `off` elsewhere. Negative indices count from the end; as in ONNX, one "
      "outside of [-depth, depth - 1] gives `off` everywhere.";
  op.inputs = {{"indices", "I"}};
  op.outputs = {{"y"}};
  op.types = {{"I", ir::kIndices}, {"T", kFillable}};
  op.attributes = {{"depth", ir::RequiredAttr{ir::Dims()}},
                   {"axis", -1},
                   {"on", 1.0},
                   {"off", 0.0},
                   {"dtype", core::DType::kF32}};
  op.axes = ir::AxesRule(ResolveOneHot);
  op.infer = InferOneHot;
  op.reference = ReferenceOneHot;
  op.no_gradient = true;
  op.samples = [] {
    const ir::Fill any = ir::Fill::Uniform(-6, 6);
    std::vector<ir::Sample> samples;
    for (const core::DType dtype : kFillable.list())
      samples.push_back({{{{7}, any}}, {{"depth", ir::Dims{5}}, {"dtype", dtype}}});
    samples.push_back({{{{}, any}}, {{"depth", ir::Dims{3}}}});
    samples.push_back(
        {{{{3, 17}, any}}, {{"depth", ir::Dims{4}}, {"axis", 0}, {"on", 2.5}, {"off", -1.0}}});
    samples.push_back({{{{2, 3}, any}}, {{"depth", ir::Dims{4}}, {"axis", -2}}});
    samples.push_back({{{{3}, any}}, {{"depth", ir::Dims{0}}}});
    samples.push_back({{{{0}, any}}, {{"depth", ir::Dims{2}}}});
    return samples;
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
