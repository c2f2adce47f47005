// y = this member's piece of the combination of every member's x
#include <algorithm>

#include "rml/core/error.h"
#include "rml/ops/collective.h"
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status ReferenceReduceScatter(ir::RefCall& call) {
  RML_ASSIGN(const int axis, call.call().axis("axis", call.in_shape(0).rank()));
  RML_ASSIGN(const int64_t members, MembersOf(call.call()));
  RML_ASSIGN(const core::ReduceOp how, ReduceOpNamed(call.call().text("op")));
  return call.VisitNumber(0, [&](auto zero) {
    using T = decltype(zero);
    return Exchange<T>(call, members, [&](auto& group, auto x, auto y) -> core::Status {
      std::vector<T> values(x.begin(), x.end());
      std::vector<T> pieces(values.size());
      CopyPieces(x.shape(), axis, members, values.data(), pieces.data(), true);
      RML_ASSIGN(const core::Tensor in, TensorOver(std::span(pieces)));
      RML_ASSIGN(const core::Tensor out, TensorOver(y));
      return group.ReduceScatter(in, out, how);
    });
  });
}

ir::Values VjpReduceScatter(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  const std::string& how = c.text("op");
  const ir::AttrList attributes = {{"axis", c.integer("axis")}, {"members", c.integer("members")}};
  const ir::Value g = e.one("all_gather", {call.grad(0)}, attributes);
  if (how == "sum") return {g};
  const ir::Value y = e.one("all_gather", {call.out(0)}, attributes);
  if (how == "prod") return {e.div(e.mul(g, y), call.in(0))};
  // The member that has the extreme gets it; members that tie share.
  const ir::Value hits = e.cast(e.one("equal", {call.in(0), y}), g.dtype());
  return {e.mul(g, e.div(hits, e.one("all_reduce", {hits})))};
}

}  // namespace

ir::OpDef ReduceScatter() {
  ir::OpDef op;
  op.name = "reduce_scatter";
  op.doc =
      "The combination (`op`: sum, max, min, prod) of the `x` of all `members` of the run's "
      "group, of which each gets the piece of its rank along `axis`.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kNumbers}};
  op.attributes = {{"axis", 0}, {"members", ir::RequiredAttr{int64_t{1}}}, {"op", "sum"}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    RML_ASSIGN(const int64_t axis, call.axis("axis", call.rank(0)));
    return AxesBut(call, std::span(&axis, 1));
  });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
    RML_ASSIGN(const int64_t members, MembersOf(call));
    RML_TRY(ReduceOpNamed(call.text("op")));
    RML_ASSIGN(const ir::Dims dims, CutDims(call.input(0).dims, axis, members));
    outputs->push_back({call.dtype(0), dims});
    return {};
  };
  op.reference = ReferenceReduceScatter;
  op.vjp = VjpReduceScatter;
  op.collective = true;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const char* how : {"sum", "max", "min", "prod"})
      samples.push_back({{{{2, 5}}}, {{"op", how}, {"axis", 1}, {"members", 1}}});
    samples.push_back({{{{0}}}, {{"members", 1}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
