// y = the x of one member
#include <algorithm>

#include "rml/ops/collective.h"

namespace rml::ops {
namespace {

core::Status ReferenceCollectiveBroadcast(ir::RefCall& call) {
  RML_ASSIGN(core::Collectives* const group, GroupWithRoot(call));
  return call.VisitIn(0, [&](auto zero) -> core::Status {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    std::copy(x.begin(), x.end(), y.begin());
    if (group == nullptr) return {};
    RML_ASSIGN(const core::Tensor tensor, TensorOver(y));
    return group->Broadcast(tensor, static_cast<int>(call.call().integer("root")));
  });
}

}  // namespace

ir::OpDef CollectiveBroadcast() {
  ir::OpDef op =
      Rooted("collective_broadcast",
             "The `x` of member `root` of the run's group, for every member.", "collective_reduce");
  op.types = {{"T", ir::kPlain}};
  op.reference = ReferenceCollectiveBroadcast;
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
