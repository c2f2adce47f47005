// The same elements in row-major order, under other dimensions.
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {
namespace {

core::Status InferReshape(const ir::OpCall& call, ir::Types* outputs) {
  const ir::Dims& dims = call.attr<ir::Dims>("shape");
  RML_TRY(dims.Check());
  if (!(call.input(0).dims.elements() == dims.elements())) {
    return core::InvalidArgument(
        "a shape ", call.input(0).dims.ToString(), " of ", call.input(0).dims.elements().ToString(),
        " elements cannot become ", dims.ToString(), " of ", dims.elements().ToString());
  }
  outputs->push_back({call.dtype(0), dims});
  return {};
}

core::Status ReferenceReshape(ir::RefCall& call) {
  call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    std::copy(x.begin(), x.end(), call.out<T>(0).begin());
  });
  return {};
}

// Axes that both shapes have, with equal products before them. The others are whole: a piece of one
// would be scattered.
core::Expected<ir::Axes> ResolveReshape(const ir::OpCall& call) {
  const ir::Dims& from = call.input(0).dims;
  const ir::Dims& to = call.attr<ir::Dims>("shape");
  ir::Axes axes;
  ir::Dim before_from = 1;
  int i = 0;
  ir::Dim before_to = 1;
  for (int j = 0; j < to.rank(); ++j) {
    while (i < from.rank() && before_from.min() < before_to.min())
      before_from = before_from * from[i++];
    if (i < from.rank() && before_from == before_to && from[i] == to[j]) {
      axes.push_back({core::StrCat("d", j), ir::AxisRole::kFree, ir::Combine::kSum, {i}, {j}});
    }
    before_to = before_to * to[j];
  }
  return axes;
}

core::Expected<ir::AttrList> Localize(const ir::OpCall& call, const ir::AxisPiece& piece) {
  ir::Dims dims = call.attr<ir::Dims>("shape");
  RML_ASSIGN(const ir::Axes axes, ResolveReshape(call));
  for (const ir::NamedAxis& axis : axes) {
    if (axis.name == piece.axis) dims[axis.outputs[0]] = piece.size;
  }
  return ir::AttrList{{"shape", dims}};
}

}  // namespace

ir::OpDef Reshape() {
  ir::OpDef op;
  op.name = "reshape";
  op.doc = "The same elements in row-major order, under the dimensions `shape`.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"shape", ir::RequiredAttr{ir::Dims()}}};
  op.axes = ir::AxesRule(ResolveReshape);
  op.infer = InferReshape;
  op.reference = ReferenceReshape;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    return {Emit(call.b()).reshape(call.grad(0), call.in(0).type().dims)};
  };
  op.localize = Localize;
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{2, 3}}}, {{"shape", ir::Dims{6}}}},
        {{{{4, 6}}}, {{"shape", ir::Dims{4, 2, 3}}}},
        {{{{}}}, {{"shape", ir::Dims{1, 1}}}},
        {{{{0, 3}}}, {{"shape", ir::Dims{3, 0}}}},
        {{{{2, 3, 4}}}, {{"shape", ir::Dims{6, 4}}}},
        {{{{4, 3, 2}}}, {{"shape", ir::Dims{4, 6, 1}}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
