#include "rml/ops/collective.h"

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
