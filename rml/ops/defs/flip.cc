// Axes backwards.
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status ReferenceFlip(ir::RefCall& call) {
  const core::Shape& shape = call.in_shape(0);
  RML_ASSIGN(const ir::Ints axes, call.call().axes("axes", shape.rank()));
  return CopyElements(call, [&](Coordinates& at) {
    for (const int64_t axis : axes) {
      int64_t& i = at[static_cast<size_t>(axis)];
      i = shape[static_cast<int>(axis)] - 1 - i;
    }
    return true;
  });
}

}  // namespace

ir::OpDef Flip() {
  ir::OpDef op;
  op.name = "flip";
  op.doc = "`x` with the order along `axes` (none: all) reversed.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"axes", ir::Ints()}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    RML_ASSIGN(const ir::Ints axes, call.axes("axes", call.rank(0)));
    return SameAxes(call, 1, axes);
  });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(call.axes("axes", call.rank(0)));
    return InferLikeFirst(call, outputs);
  };
  op.reference = ReferenceFlip;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    return {Emit(call.b()).one("flip", {call.grad(0)}, {{"axes", call.call().ints("axes")}})};
  };
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{}}}},
        {{{{7}}}},
        {{{{3, 5}}}},
        {{{{2, 3, 17}}}, {{"axes", ir::Ints{-1}}}},
        {{{{4, 3, 2}}}, {{"axes", ir::Ints{0, 2}}}},
        {{{{0, 3}}}, {{"axes", ir::Ints{0}}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
