#include "rml/ops/collective.h"

#include "rml/ops/elementwise.h"

namespace rml::ops {

using core::Expected;
using ir::Dims;

Expected<core::ReduceOp> ReduceOpNamed(std::string_view name) {
  if (name == "sum") return core::ReduceOp::kSum;
  if (name == "max") return core::ReduceOp::kMax;
  if (name == "min") return core::ReduceOp::kMin;
  if (name == "prod") return core::ReduceOp::kProd;
  return core::InvalidArgument("op is \"", name, "\", expected sum, max, min or prod");
}

Expected<int64_t> MembersOf(const ir::OpCall& call) {
  const int64_t members = call.integer("members");
  if (members < 1 || members > INT32_MAX)
    return core::InvalidArgument("members is ", members, ", expected at least 1");
  return members;
}

Expected<Dims> CutDims(Dims dims, int axis, int64_t members) {
  const ir::Dim piece = ExactDiv(dims[axis], members);
  if (!piece.valid()) {
    return core::InvalidArgument("axis ", axis, " of ", dims[axis].ToString(),
                                 " elements makes no ", members, " equal pieces");
  }
  dims[axis] = piece;
  return dims;
}

Dims JoinedDims(Dims dims, int axis, int64_t members) {
  dims[axis] = dims[axis] * members;
  return dims;
}

Expected<core::Collectives*> GroupOf(const ir::RefCall& call, int64_t members) {
  core::Collectives* const group = call.context().collectives;
  const int64_t size = group == nullptr ? 1 : group->size();
  if (members != 0 && size != members) {
    return core::FailedPrecondition("the group of this run has ", size, " members, expected ",
                                    members);
  }
  return size == 1 ? nullptr : group;
}

Expected<core::Collectives*> GroupWithRoot(const ir::RefCall& call) {
  const int64_t root = call.call().integer("root");
  RML_ASSIGN(core::Collectives* const group, GroupOf(call, 0));
  if (const int size = group == nullptr ? 1 : group->size(); root >= size) {
    return core::InvalidArgument("root is ", root, ", and the group of this run has ", size,
                                 " members");
  }
  return group;
}

ir::OpDef Rooted(std::string_view name, std::string_view doc, std::string_view adjoint) {
  ir::OpDef op;
  op.name = name;
  op.doc = doc;
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.attributes = {{"root", 0}};
  op.axes = ir::AxesRule(BroadcastAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    if (call.integer("root") < 0) return core::InvalidArgument("root is ", call.integer("root"));
    return InferLikeFirst(call, outputs);
  };
  op.vjp = [adjoint](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.one(adjoint, {call.grad(0)}, {{"root", call.call().integer("root")}})};
  };
  op.collective = true;
  op.samples = [] {
    std::vector<ir::Sample> samples = UnarySamples();
    samples.push_back({{{{2, 5}}}, {{"root", 0}}});
    return samples;
  };
  return op;
}

ir::Axes AxesBut(const ir::OpCall& call, std::span<const int64_t> whole) {
  ir::Axes axes;
  for (int axis = 0; axis < call.rank(0); ++axis) {
    axes.push_back({core::StrCat("d", axis),
                    Contains(whole, axis) ? ir::AxisRole::kWhole : ir::AxisRole::kFree,
                    ir::Combine::kSum,
                    {axis},
                    {axis}});
  }
  return axes;
}

}  // namespace rml::ops
