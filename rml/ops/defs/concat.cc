// Values one behind the other along an axis.
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status InferConcat(const ir::OpCall& call, ir::Types* outputs) {
  if (call.inputs() == 0) return core::InvalidArgument("there are no inputs");
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
  ir::Type type = call.input(0);
  for (int i = 1; i < call.inputs(); ++i) {
    if (call.rank(i) != type.rank()) {
      return core::InvalidArgument(call.input_name(0), " has ", type.rank(), " dimensions and ",
                                   call.input_name(i), " ", call.rank(i));
    }
    for (int d = 0; d < type.rank(); ++d) {
      if (d == axis || call.dim(i, d) == type.dims[d]) continue;
      return core::InvalidArgument("axis ", d, " is ", type.dims[d].ToString(), " in ",
                                   call.input_name(0), " and ", call.dim(i, d).ToString(), " in ",
                                   call.input_name(i));
    }
    type.dims[axis] = type.dims[axis] + call.dim(i, axis);
  }
  outputs->push_back(type);
  return {};
}

core::Status ReferenceConcat(ir::RefCall& call) {
  RML_ASSIGN(const int axis, call.call().axis("axis", call.out_shape(0).rank()));
  call.VisitOut(0, [&](auto zero) {
    using T = decltype(zero);
    const auto y = call.out<T>(0);
    const AxisView to(y.shape(), axis);
    int64_t start = 0;
    for (int k = 0; k < call.inputs(); ++k) {
      const auto x = call.in<T>(k);
      const AxisView from(x.shape(), axis);
      for (int64_t o = 0; o < from.outer; ++o) {
        for (int64_t i = 0; i < from.size; ++i) {
          for (int64_t in = 0; in < from.inner; ++in)
            y[to.at(o, start + i, in)] = x[from.at(o, i, in)];
        }
      }
      start += from.size;
    }
  });
  return {};
}

ir::Values VjpConcat(ir::ExprCall& call) {
  const Emit e(call.b());
  const int axis = *call.call().axis("axis", call.in(0).rank());
  ir::Values grads(static_cast<size_t>(call.inputs()));
  ir::Dim start = 0;
  for (int i = 0; i < call.inputs(); ++i) {
    const ir::Dim size = call.in(i).dim(axis);
    if (call.needs(i)) {
      grads[static_cast<size_t>(i)] =
          e.one("narrow", {call.grad(0)},
                {{"axis", axis}, {"start", ir::Dims{start}}, {"size", ir::Dims{size}}});
    }
    start = start + size;
  }
  return grads;
}

}  // namespace

ir::OpDef Concat() {
  ir::OpDef op;
  op.name = "concat";
  op.doc = "The inputs one behind the other along `axis`; all other axes are equal.";
  op.inputs = {{"inputs", "T", ir::Arity::kMany}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"axis", 0}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    if (call.inputs() == 0) return ir::Axes();
    RML_ASSIGN(const int64_t axis, call.axis("axis", call.rank(0)));
    return SameAxes(call, 1, std::span(&axis, 1));
  });
  op.infer = InferConcat;
  op.reference = ReferenceConcat;
  op.vjp = VjpConcat;
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{1}}}},
        {{{{3}}, {{4}}}},
        {{{{2, 3}}, {{2, 1}}, {{2, 33}}}, {{"axis", -1}}},
        {{{{2, 3, 2}}, {{2, 0, 2}}, {{2, 4, 2}}}, {{"axis", 1}}},
        {{{{0, 3}}, {{0, 3}}}, {{"axis", 0}}},
        {{{{4, 1}}, {{4, 1}}, {{4, 1}}, {{4, 1}}, {{4, 1}}, {{4, 1}}, {{4, 1}}, {{4, 1}}, {{4, 1}}},
         {{"axis", 1}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
