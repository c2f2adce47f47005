// y[…, i, j] = x[…, i, j] on one side of a diagonal, and 0 on the other
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status ReferenceTriangular(ir::RefCall& call) {
  const bool upper = call.call().flag("upper");
  const int64_t k = call.call().integer("k");
  const auto rank = static_cast<size_t>(call.in_shape(0).rank());
  return CopyElements(call, [&](Coordinates& at) {
    const int64_t diagonal = at[rank - 1] - at[rank - 2];
    return upper ? diagonal >= k : diagonal <= k;
  });
}

}  // namespace

ir::OpDef Triangular() {
  ir::OpDef op;
  op.name = "triangular";
  op.doc =
      "The lower triangle of the last two axes of `x`, j - i ≤ `k`, or the `upper` one, j - i ≥ "
      "k; the rest is 0. NumPy's tril and triu, ONNX's Trilu.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"upper", false}, {"k", 0}};
  op.axes = ir::AxesRule(
      [](const ir::OpCall& call) -> core::Expected<ir::Axes> { return SameAxes(call, 1, {}); });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    if (call.rank(0) < 2)
      return core::InvalidArgument("x has ", call.rank(0), " dimensions, expected at least 2");
    return InferLikeFirst(call, outputs);
  };
  op.reference = ReferenceTriangular;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    return {Emit(call.b()).one(
        "triangular", {call.grad(0)},
        {{"upper", call.call().flag("upper")}, {"k", call.call().integer("k")}})};
  };
  op.localize = [](const ir::OpCall& call,
                   const ir::AxisPiece& piece) -> core::Expected<ir::AttrList> {
    return ir::AttrList{{"upper", call.flag("upper")},
                        {"k", DiagonalOfPiece(call, call.rank(0), piece)}};
  };
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{1, 1}}}},
        {{{{5, 5}}}},
        {{{{4, 7}}}, {{"k", 2}}},
        {{{{3, 17, 5}}}, {{"upper", true}, {"k", -3}}},
        {{{{7, 4}}}, {{"upper", true}}},
        {{{{3, 3}}}, {{"k", INT64_MAX}}},
        {{{{3, 4}}}, {{"upper", true}, {"k", INT64_MIN}}},
        {{{{0, 3}}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
