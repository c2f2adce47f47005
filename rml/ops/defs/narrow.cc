// y[…, i, …] = x[…, start + i, …]
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status InferNarrow(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
  const ir::Dims& start = call.attr<ir::Dims>("start");
  const ir::Dims& size = call.attr<ir::Dims>("size");
  if (start.rank() != 1 || size.rank() != 1)
    return core::InvalidArgument("start and size are one dimension each");
  ir::Type type = call.input(0);
  if (!(type.dims[axis] - start[0] - size[0]).valid()) {
    return core::InvalidArgument(size[0].ToString(), " elements from ", start[0].ToString(),
                                 " are outside an axis of ", type.dims[axis].ToString());
  }
  type.dims[axis] = size[0];
  outputs->push_back(type);
  return {};
}

core::Status ReferenceNarrow(ir::RefCall& call) {
  RML_ASSIGN(const int axis, call.call().axis("axis", call.in_shape(0).rank()));
  const int64_t start = call.call().attr<ir::Dims>("start")[0].value();
  return CopyElements(call, [&](Coordinates& at) {
    at[static_cast<size_t>(axis)] += start;
    return true;
  });
}

ir::Values VjpNarrow(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Type type = call.in(0).type();
  const int axis = *call.call().axis("axis", type.rank());
  const ir::Dim start = call.call().attr<ir::Dims>("start")[0];
  const ir::Dim size = call.call().attr<ir::Dims>("size")[0];
  const auto zeros = [&](ir::Dim count) {
    ir::Type part = type;
    part.dims[axis] = count;
    return e.full(0, part);
  };
  const ir::Dim rest = type.dims[axis] - start - size;
  ir::Values parts;
  if (!(start == ir::Dim(0))) parts.push_back(zeros(start));
  parts.push_back(call.grad(0));
  if (!(rest == ir::Dim(0))) parts.push_back(zeros(rest));
  if (parts.size() == 1) return {call.grad(0)};
  return {e.call("concat", std::span(parts.begin(), parts.size()), {{"axis", axis}})[0]};
}

}  // namespace

ir::OpDef Narrow() {
  ir::OpDef op;
  op.name = "narrow";
  op.doc =
      "`size` elements of `axis` from place `start` on. Both are dimensions, which may be "
      "symbolic where a `slice`'s may not.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"axis", 0}, {"start", ir::Dims{0}}, {"size", ir::RequiredAttr{ir::Dims()}}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    RML_ASSIGN(const int64_t axis, call.axis("axis", call.rank(0)));
    return SameAxes(call, 1, std::span(&axis, 1));
  });
  op.infer = InferNarrow;
  op.reference = ReferenceNarrow;
  op.vjp = VjpNarrow;
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{7}}}, {{"start", ir::Dims{2}}, {"size", ir::Dims{4}}}},
        {{{{3, 5}}}, {{"axis", -1}, {"size", ir::Dims{2}}}},
        {{{{3, 5, 2}}}, {{"axis", 1}, {"start", ir::Dims{5}}, {"size", ir::Dims{0}}}},
        {{{{2, 33}}}, {{"axis", 1}, {"start", ir::Dims{16}}, {"size", ir::Dims{17}}}},
        {{{{2, 3}}}, {{"axis", 0}, {"size", ir::Dims{2}}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
