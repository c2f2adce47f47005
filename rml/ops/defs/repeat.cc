// y[…, i, …] = x[…, i / repeats, …]
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status InferRepeat(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
  const int64_t repeats = call.integer("repeats");
  if (repeats < 0) return core::InvalidArgument("repeats is ", repeats);
  ir::Type type = call.input(0);
  type.dims[axis] = type.dims[axis] * ir::Dim(repeats);
  outputs->push_back(type);
  return {};
}

core::Status ReferenceRepeat(ir::RefCall& call) {
  RML_ASSIGN(const int axis, call.call().axis("axis", call.in_shape(0).rank()));
  return CopyElements(call, [&](Coordinates& at) {
    at[static_cast<size_t>(axis)] /= call.call().integer("repeats");
    return true;
  });
}

ir::Values VjpRepeat(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Dims x = call.in(0).type().dims;
  const int axis = *call.call().axis("axis", x.rank());
  ir::Dim before = 1;
  ir::Dim after = 1;
  for (int i = 0; i <= axis; ++i) before = before * x[i];
  for (int i = axis + 1; i < x.rank(); ++i) after = after * x[i];
  const ir::Dims parts = {before, call.call().integer("repeats"), after};
  return {e.reshape(e.sum(e.reshape(call.grad(0), parts), {1}), x)};
}

}  // namespace

ir::OpDef Repeat() {
  ir::OpDef op;
  op.name = "repeat";
  op.doc =
      "Every element `repeats` times in a row along `axis`: NumPy's repeat, PyTorch's "
      "repeat_interleave.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"repeats", ir::RequiredAttr{int64_t{1}}}, {"axis", 0}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    RML_ASSIGN(const int64_t axis, call.axis("axis", call.rank(0)));
    return SameAxes(call, 1, std::span(&axis, 1));
  });
  op.infer = InferRepeat;
  op.reference = ReferenceRepeat;
  op.vjp = VjpRepeat;
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{1}}}, {{"repeats", 1}}},
        {{{{7}}}, {{"repeats", 3}}},
        {{{{2, 4, 3}}}, {{"repeats", 2}, {"axis", 1}}},
        {{{{3, 17}}}, {{"repeats", 2}, {"axis", -1}}},
        {{{{3, 2}}}, {{"repeats", 0}}},
        {{{{0, 2}}}, {{"repeats", 4}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
