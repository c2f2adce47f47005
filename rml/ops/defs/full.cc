// One number everywhere.
#include <algorithm>

#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"
#include "rml/ops/wide.h"

namespace rml::ops {
namespace {

core::Status InferFull(const ir::OpCall& call, ir::Types* outputs) {
  const ir::Dims& dims = call.attr<ir::Dims>("shape");
  if (call.has(0)) {
    if (call.rank(0) != 0)
      return core::InvalidArgument("x has ", call.rank(0), " dimensions, expected none");
    outputs->push_back({call.dtype(0), dims});
    return {};
  }
  const auto dtype = call.attr<core::DType>("dtype");
  if (!ir::kPlain.Has(dtype))
    return core::Unsupported("dtype is ", core::Name(dtype), ", expected one of ",
                             ir::kPlain.ToString());
  RML_TRY(CheckNumber("value", call.number("value"), dtype));
  outputs->push_back({dtype, dims});
  return {};
}

core::Status ReferenceFull(ir::RefCall& call) {
  call.VisitOut(0, [&](auto zero) {
    using T = decltype(zero);
    const auto y = call.out<T>(0);
    T value{};
    if (call.has(0)) {
      value = call.in<T>(0)[0];
    } else {
      value =
          CastWide<double, T>(call.call().number("value"), call.call().attr<core::DType>("dtype"));
    }
    std::fill(y.begin(), y.end(), value);
  });
  return {};
}

core::Expected<ir::AttrList> Localize(const ir::OpCall& call, const ir::AxisPiece& piece) {
  ir::Dims dims = call.attr<ir::Dims>("shape");
  dims[AxisNumber(piece)] = piece.size;
  return ir::AttrList{
      {"shape", dims}, {"value", call.number("value")}, {"dtype", call.attr<core::DType>("dtype")}};
}

}  // namespace

ir::OpDef Full() {
  ir::OpDef op;
  op.name = "full";
  op.doc =
      "A value of dimensions `shape` with one number everywhere: that of the scalar `x`, with its "
      "dtype; without it, `value` as `dtype`.";
  op.inputs = {{"x", "T", ir::Arity::kOptional}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {
      {"shape", ir::RequiredAttr{ir::Dims()}}, {"value", 0.0}, {"dtype", core::DType::kF32}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    ir::Axes axes;
    const std::vector<int> absent(static_cast<size_t>(call.inputs()), -1);
    for (int i = 0; i < call.attr<ir::Dims>("shape").rank(); ++i)
      axes.push_back(FreeAxis(i, absent, {i}));
    return axes;
  });
  op.infer = InferFull;
  op.reference = ReferenceFull;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    if (call.grad(0).rank() == 0) return {call.grad(0)};
    return {e.sum(call.grad(0), {})};
  };
  op.localize = Localize;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const core::DType dtype : ir::kPlain.list())
      samples.push_back({{}, {{"shape", ir::Dims{2, 3}}, {"dtype", dtype}, {"value", 3.0}}});
    samples.push_back({{{{}}}, {{"shape", ir::Dims{2, 17}}}});
    samples.push_back({{{{}}}, {{"shape", ir::Dims()}}});
    samples.push_back({{{{}}}, {{"shape", ir::Dims{0, 2}}}});
    samples.push_back({{{{}, ir::Fill::None()}}, {{"shape", ir::Dims{7}}, {"value", -0.5}}});
    return samples;
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
