// y[…, i, j] = 1 where j - i = k, else 0
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status InferEye(const ir::OpCall& call, ir::Types* outputs) {
  const ir::Dims& dims = call.attr<ir::Dims>("shape");
  if (dims.rank() < 2)
    return core::InvalidArgument("shape has ", dims.rank(), " dimensions, expected at least 2");
  const auto dtype = call.attr<core::DType>("dtype");
  if (!kFillable.Has(dtype))
    return core::Unsupported("dtype is ", core::Name(dtype), ", expected one of ",
                             kFillable.ToString());
  outputs->push_back({dtype, dims});
  return {};
}

core::Status ReferenceEye(ir::RefCall& call) {
  const int64_t k = call.call().integer("k");
  call.VisitOut(0, [&](auto zero) {
    using T = decltype(zero);
    const auto y = call.out<T>(0);
    const auto rank = static_cast<size_t>(y.rank());
    for (int64_t i = 0; i < y.size(); ++i) {
      const Coordinates at = CoordinatesOf(i, y.shape());
      y[i] = at[rank - 1] - at[rank - 2] == k ? T{1} : T{0};
    }
  });
  return {};
}

}  // namespace

ir::OpDef Eye() {
  ir::OpDef op;
  op.name = "eye";
  op.doc =
      "1 on the diagonal j - i = `k` of the last two axes of a value of dimensions `shape`, and 0 "
      "elsewhere.";
  op.outputs = {{"y"}};
  op.types = {{"T", kFillable}};
  op.attributes = {{"shape", ir::RequiredAttr{ir::Dims()}}, {"dtype", core::DType::kF32}, {"k", 0}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    ir::Axes axes;
    for (int i = 0; i < call.attr<ir::Dims>("shape").rank(); ++i)
      axes.push_back(FreeAxis(i, {}, {i}));
    return axes;
  });
  op.infer = InferEye;
  op.reference = ReferenceEye;
  op.no_gradient = true;
  op.localize = [](const ir::OpCall& call,
                   const ir::AxisPiece& piece) -> core::Expected<ir::AttrList> {
    ir::Dims dims = call.attr<ir::Dims>("shape");
    const int64_t k = DiagonalOfPiece(call, dims.rank(), piece);
    dims[AxisNumber(piece)] = piece.size;
    return ir::AttrList{{"shape", dims}, {"dtype", call.attr<core::DType>("dtype")}, {"k", k}};
  };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const core::DType dtype : kFillable.list())
      samples.push_back({{}, {{"shape", ir::Dims{3, 5}}, {"dtype", dtype}, {"k", 1}}});
    samples.push_back({{}, {{"shape", ir::Dims{2, 17, 7}}, {"k", -4}}});
    samples.push_back({{}, {{"shape", ir::Dims{0, 3}}}});
    samples.push_back({{}, {{"shape", ir::Dims{3, 3}}, {"k", INT64_MIN}}});
    return samples;
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
