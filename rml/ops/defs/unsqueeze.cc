// The same elements with axes of one put in.
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

// The new axes, as places in the result.
core::Expected<ir::Ints> NewAxes(const ir::OpCall& call) {
  const size_t count = call.ints("axes").size();
  if (count > core::kMaxRank) RML_TRY(CheckRank(static_cast<int>(count)));
  const int rank = call.rank(0) + static_cast<int>(count);
  RML_TRY(CheckRank(rank));
  return call.axes("axes", rank, false);
}

core::Status InferUnsqueeze(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const ir::Ints axes, NewAxes(call));
  ir::Type type = call.input(0);
  for (const int64_t axis : axes) type.dims.Insert(static_cast<int>(axis), 1);
  outputs->push_back(type);
  return {};
}

core::Expected<ir::Axes> ResolveUnsqueeze(const ir::OpCall& call) {
  RML_ASSIGN(const ir::Ints fresh, NewAxes(call));
  ir::Axes axes;
  int place = 0;
  for (int axis = 0; axis < call.rank(0); ++axis, ++place) {
    while (Contains(fresh, place)) ++place;
    axes.push_back(FreeAxis(axis, {axis}, {place}));
  }
  return axes;
}

}  // namespace

ir::OpDef Unsqueeze() {
  ir::OpDef op;
  op.name = "unsqueeze";
  op.doc = "`x` with new axes of one element, whose places in the result are `axes` (as ONNX).";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"axes", ir::RequiredAttr{ir::Ints()}}};
  op.axes = ir::AxesRule(ResolveUnsqueeze);
  op.infer = InferUnsqueeze;
  op.reference = [](ir::RefCall& call) { return CopyAll(call); };
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    return {Emit(call.b()).reshape(call.grad(0), call.in(0).type().dims)};
  };
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{}}}, {{"axes", ir::Ints{0, 1}}}},        {{{{7}}}, {{"axes", ir::Ints{-1}}}},
        {{{{2, 3}}}, {{"axes", ir::Ints{3, 0, 1}}}}, {{{{2, 3, 4}}}, {{"axes", ir::Ints{1}}}},
        {{{{0}}}, {{"axes", ir::Ints{1}}}},          {{{{5}}}, {{"axes", ir::Ints()}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
