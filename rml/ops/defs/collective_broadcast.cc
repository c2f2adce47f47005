// y = the x of one member
#include <algorithm>

#include "rml/core/error.h"
#include "rml/ops/collective.h"
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status ReferenceCollectiveBroadcast(ir::RefCall& call) {
  const int64_t root = call.call().integer("root");
  RML_ASSIGN(core::Collectives* const group, GroupOf(call, 0));
  if (const int size = group == nullptr ? 1 : group->size(); root >= size)
    return core::InvalidArgument("root is ", root, ", and the group of this run has ", size,
                                 " members");
  return call.VisitIn(0, [&](auto zero) -> core::Status {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    std::copy(x.begin(), x.end(), y.begin());
    if (group == nullptr) return {};
    RML_ASSIGN(const core::Tensor tensor,
               TensorOver(std::span(y.data(), static_cast<size_t>(y.size()))));
    return group->Broadcast(tensor, static_cast<int>(root));
  });
}

}  // namespace

ir::OpDef CollectiveBroadcast() {
  ir::OpDef op;
  op.name = "collective_broadcast";
  op.doc = "The `x` of member `root` of the run's group, for every member.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"root", 0}};
  op.axes = ir::AxesRule(BroadcastAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    if (call.integer("root") < 0) return core::InvalidArgument("root is ", call.integer("root"));
    return InferLikeFirst(call, outputs);
  };
  op.reference = ReferenceCollectiveBroadcast;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    return {Emit(call.b()).one("collective_reduce", {call.grad(0)},
                               {{"root", call.call().integer("root")}})};
  };
  op.collective = true;
  op.samples = [] {
    std::vector<ir::Sample> samples = UnarySamples();
    samples.push_back({{{{2, 5}}}, {{"root", 0}}, true, false, 3});
    return samples;
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
