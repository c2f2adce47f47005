// y = every member's x, one behind the other
#include <algorithm>

#include "rml/core/error.h"
#include "rml/ops/collective.h"
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status ReferenceAllGather(ir::RefCall& call) {
  RML_ASSIGN(const int axis, call.call().axis("axis", call.in_shape(0).rank()));
  RML_ASSIGN(const int64_t members, MembersOf(call.call()));
  return call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    return Exchange<T>(call, members, [&](auto& group, auto x, auto y) -> core::Status {
      std::vector<T> mine(x.begin(), x.end());
      std::vector<T> pieces(static_cast<size_t>(y.size()));
      RML_ASSIGN(const core::Tensor in, TensorOver(std::span(mine)));
      RML_ASSIGN(const core::Tensor out, TensorOver(std::span(pieces)));
      RML_TRY(group.AllGather(in, out));
      CopyPieces(y.shape(), axis, members, y.data(), pieces.data(), false);
      return {};
    });
  });
}

}  // namespace

ir::OpDef AllGather() {
  ir::OpDef op;
  op.name = "all_gather";
  op.doc =
      "The `x` of each of the `members` of the run's group, in the order of ranks, joined along "
      "`axis`; every member gets it.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"axis", 0}, {"members", ir::RequiredAttr{int64_t{1}}}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    RML_ASSIGN(const int64_t axis, call.axis("axis", call.rank(0)));
    return AxesBut(call, std::span(&axis, 1));
  });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
    RML_ASSIGN(const int64_t members, MembersOf(call));
    outputs->push_back({call.dtype(0), JoinedDims(call.input(0).dims, axis, members)});
    return {};
  };
  op.reference = ReferenceAllGather;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const ir::OpCall& c = call.call();
    return {Emit(call.b()).one("reduce_scatter", {call.grad(0)},
                               {{"axis", c.integer("axis")}, {"members", c.integer("members")}})};
  };
  op.collective = true;
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{7}}}, {{"members", 1}}},
        {{{{2, 3}}}, {{"axis", -1}, {"members", 1}}},
        {{{{0, 3}}}, {{"members", 1}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
