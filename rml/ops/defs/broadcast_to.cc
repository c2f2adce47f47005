// x repeated to a larger shape.
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status InferBroadcastTo(const ir::OpCall& call, ir::Types* outputs) {
  const ir::Dims& dims = call.attr<ir::Dims>("shape");
  RML_ASSIGN(const ir::Dims both, BroadcastDims(call.input(0).dims, dims));
  if (!(both == dims)) {
    return core::InvalidArgument("shape ", call.input(0).dims.ToString(), " does not broadcast to ",
                                 dims.ToString());
  }
  outputs->push_back({call.dtype(0), dims});
  return {};
}

core::Status ReferenceBroadcastTo(ir::RefCall& call) {
  call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    ForBroadcast<1>(call,
                    [&](int64_t out, const std::array<int64_t, 1>& in) { y[out] = x[in[0]]; });
  });
  return {};
}

core::Expected<ir::Axes> ResolveBroadcast(const ir::OpCall& call) {
  const ir::Dims& to = call.attr<ir::Dims>("shape");
  const ir::Dims& from = call.input(0).dims;
  ir::Axes axes;
  for (int axis = 0; axis < to.rank(); ++axis) {
    const int place = axis - (to.rank() - from.rank());
    const bool here = place >= 0 && from[place] == to[axis];
    axes.push_back({core::StrCat("d", axis),
                    ir::AxisRole::kFree,
                    ir::Combine::kSum,
                    {here ? place : -1},
                    {axis}});
  }
  return axes;
}

core::Expected<ir::AttrList> Localize(const ir::OpCall& call, const ir::AxisPiece& piece) {
  ir::Dims dims = call.attr<ir::Dims>("shape");
  for (int axis = 0; axis < dims.rank(); ++axis) {
    if (core::StrCat("d", axis) == piece.axis) dims[axis] = piece.size;
  }
  return ir::AttrList{{"shape", dims}};
}

}  // namespace

ir::OpDef BroadcastTo() {
  ir::OpDef op;
  op.name = "broadcast_to";
  op.doc =
      "`x` repeated along new and one-element axes, to the dimensions `shape` (NumPy's rules).";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"shape", ir::RequiredAttr{ir::Dims()}}};
  op.axes = ir::AxesRule(ResolveBroadcast);
  op.infer = InferBroadcastTo;
  op.reference = ReferenceBroadcastTo;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    return {Emit(call.b()).sum_to(call.grad(0), call.in(0).type().dims)};
  };
  op.localize = Localize;
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{}}}, {{"shape", ir::Dims{2, 3}}}},
        {{{{3}}}, {{"shape", ir::Dims{2, 3}}}},
        {{{{2, 1}}}, {{"shape", ir::Dims{2, 5}}}},
        {{{{1, 3}}}, {{"shape", ir::Dims{0, 3}}}},
        {{{{4, 6}}}, {{"shape", ir::Dims{4, 6}}}},
        {{{{2, 1, 3}}}, {{"shape", ir::Dims{4, 2, 7, 3}}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
