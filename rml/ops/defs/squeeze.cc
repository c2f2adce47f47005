// The same elements without axes of one.
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

// The axes that go.
core::Expected<ir::Ints> Gone(const ir::OpCall& call) {
  const ir::Dims& dims = call.input(0).dims;
  RML_ASSIGN(ir::Ints axes, call.axes("axes", dims.rank(), false));
  if (axes.empty()) {
    for (int axis = 0; axis < dims.rank(); ++axis) {
      if (dims[axis] == ir::Dim(1)) axes.push_back(axis);
    }
  }
  for (const int64_t axis : axes) {
    const ir::Dim dim = dims[static_cast<int>(axis)];
    if (!(dim == ir::Dim(1)))
      return core::InvalidArgument("axis ", axis, " is ", dim.ToString(), ", expected 1");
  }
  return axes;
}

core::Status InferSqueeze(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const ir::Ints gone, Gone(call));
  ir::Type type = {call.dtype(0), {}};
  for (int axis = 0; axis < call.rank(0); ++axis) {
    if (!Contains(gone, axis)) type.dims.Append(call.dim(0, axis));
  }
  outputs->push_back(type);
  return {};
}

core::Expected<ir::Axes> ResolveSqueeze(const ir::OpCall& call) {
  ir::Axes axes;
  // Without a list, a piece of one element of any axis would lose that as well.
  if (call.ints("axes").empty()) return axes;
  RML_ASSIGN(const ir::Ints gone, Gone(call));
  int place = 0;
  for (int axis = 0; axis < call.rank(0); ++axis) {
    if (!Contains(gone, axis)) axes.push_back(FreeAxis(axis, {axis}, {place++}));
  }
  return axes;
}

}  // namespace

ir::OpDef Squeeze() {
  ir::OpDef op;
  op.name = "squeeze";
  op.doc =
      "`x` without `axes`, which have one element each; none: all axes that have (a symbolic one "
      "stays).";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"axes", ir::Ints()}};
  op.axes = ir::AxesRule(ResolveSqueeze);
  op.infer = InferSqueeze;
  op.reference = [](ir::RefCall& call) { return CopyAll(call); };
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    return {Emit(call.b()).reshape(call.grad(0), call.in(0).type().dims)};
  };
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{1}}}},
        {{{{}}}},
        {{{{1, 7, 1}}}},
        {{{{2, 1, 3, 1}}}, {{"axes", ir::Ints{1, -1}}}},
        {{{{1, 1, 4}}}, {{"axes", ir::Ints{0}}}},
        {{{{0, 1}}}, {{"axes", ir::Ints{1}}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
