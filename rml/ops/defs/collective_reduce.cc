// y = the sum of every member's x at one member, zeros at the others
#include <algorithm>

#include "rml/ops/collective.h"

namespace rml::ops {
namespace {

core::Status ReferenceCollectiveReduce(ir::RefCall& call) {
  RML_ASSIGN(core::Collectives* const group, GroupWithRoot(call));
  return call.VisitNumber(0, [&](auto zero) -> core::Status {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    std::copy(x.begin(), x.end(), y.begin());
    if (group == nullptr) return {};
    RML_ASSIGN(const core::Tensor tensor, TensorOver(y));
    RML_TRY(group->AllReduce(tensor, tensor, core::ReduceOp::kSum));
    if (group->rank() != call.call().integer("root")) std::fill(y.begin(), y.end(), T{});
    return {};
  });
}

}  // namespace

ir::OpDef CollectiveReduce() {
  ir::OpDef op = Rooted(
      "collective_reduce",
      "The sum of the `x` of every member of the run's group, for member `root`; the others get "
      "zeros. It is the gradient of `collective_broadcast`.",
      "collective_broadcast");
  op.types = {{"T", ir::kNumbers}};
  op.reference = ReferenceCollectiveReduce;
  return op;
}

}  // namespace rml::ops
