// y = the combination of every member's x
#include "rml/ops/collective.h"
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status ReferenceAllReduce(ir::RefCall& call) {
  return call.VisitNumber(0, [&](auto zero) -> core::Status {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    std::copy(x.begin(), x.end(), y.begin());
    RML_ASSIGN(core::Collectives* const group, GroupOf(call, 0));
    if (group == nullptr) return {};
    RML_ASSIGN(const core::ReduceOp op, ReduceOpNamed(call.call().text("op")));
    RML_ASSIGN(const core::Tensor tensor, TensorOver(y));
    return group->AllReduce(tensor, tensor, op);
  });
}

}  // namespace

ir::OpDef AllReduce() {
  ir::OpDef op;
  op.name = "all_reduce";
  op.doc =
      "The combination (`op`: sum, max, min, prod) of the `x` of every member of the run's group; "
      "each gets it. In a group of one: `x`.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kNumbers}};
  op.attributes = {{"op", "sum"}};
  op.axes = ir::AxesRule(BroadcastAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(ReduceOpNamed(call.text("op")));
    return InferLikeFirst(call, outputs);
  };
  op.reference = ReferenceAllReduce;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const std::string& how = call.call().text("op");
    const ir::Value total = e.one("all_reduce", {call.grad(0)});
    if (how == "sum") return {total};
    if (how == "prod") return {e.div(e.mul(total, call.out(0)), call.in(0))};
    // The member that has the extreme gets it; members that tie share.
    const ir::Value hits = e.cast(e.one("equal", {call.in(0), call.out(0)}), call.grad(0).dtype());
    return {e.mul(total, e.div(hits, e.one("all_reduce", {hits})))};
  };
  op.collective = true;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const char* how : {"sum", "max", "min", "prod"})
      samples.push_back({{{{2, 5}}}, {{"op", how}}});
    samples.push_back({{{{7}}}});
    samples.push_back({{{{0}}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
