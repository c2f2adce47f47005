// y = the sum of every member's x at one member, zeros at the others
#include <algorithm>

#include "rml/core/error.h"
#include "rml/ops/collective.h"
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status ReferenceCollectiveReduce(ir::RefCall& call) {
  const int64_t root = call.call().integer("root");
  RML_ASSIGN(core::Collectives* const group, GroupOf(call, 0));
  if (const int size = group == nullptr ? 1 : group->size(); root >= size)
    return core::InvalidArgument("root is ", root, ", and the group of this run has ", size,
                                 " members");
  return call.VisitNumber(0, [&](auto zero) -> core::Status {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    std::copy(x.begin(), x.end(), y.begin());
    if (group == nullptr) return {};
    RML_ASSIGN(const core::Tensor tensor,
               TensorOver(std::span(y.data(), static_cast<size_t>(y.size()))));
    RML_TRY(group->AllReduce(tensor, tensor, core::ReduceOp::kSum));
    if (group->rank() != root) std::fill(y.begin(), y.end(), T{});
    return {};
  });
}

}  // namespace

ir::OpDef CollectiveReduce() {
  ir::OpDef op;
  op.name = "collective_reduce";
  op.doc =
      "The sum of the `x` of every member of the run's group, for member `root`; the others get "
      "zeros. It is the gradient of `collective_broadcast`.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kNumbers}};
  op.attributes = {{"root", 0}};
  op.axes = ir::AxesRule(BroadcastAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    if (call.integer("root") < 0) return core::InvalidArgument("root is ", call.integer("root"));
    return InferLikeFirst(call, outputs);
  };
  op.reference = ReferenceCollectiveReduce;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    return {Emit(call.b()).one("collective_broadcast", {call.grad(0)},
                               {{"root", call.call().integer("root")}})};
  };
  op.collective = true;
  op.samples = [] {
    std::vector<ir::Sample> samples = UnarySamples();
    samples.push_back({{{{2, 5}}}, {{"root", 0}}, true, false, 3});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
