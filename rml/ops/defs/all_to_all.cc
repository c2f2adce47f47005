// y = the pieces that every member has for this one
#include <algorithm>

#include "rml/core/error.h"
#include "rml/ops/collective.h"
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status ReferenceAllToAll(ir::RefCall& call) {
  const int rank = call.in_shape(0).rank();
  RML_ASSIGN(const int split, call.call().axis("split_axis", rank));
  RML_ASSIGN(const int concat, call.call().axis("concat_axis", rank));
  RML_ASSIGN(const int64_t members, MembersOf(call.call()));
  return call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    return Exchange<T>(call, members, [&](auto& group, auto x, auto y) -> core::Status {
      std::vector<T> values(x.begin(), x.end());
      std::vector<T> sent(values.size());
      std::vector<T> received(values.size());
      CopyPieces(x.shape(), split, members, values.data(), sent.data(), true);
      RML_ASSIGN(const core::Tensor in, TensorOver(std::span(sent)));
      RML_ASSIGN(const core::Tensor out, TensorOver(std::span(received)));
      RML_TRY(group.AllToAll(in, out));
      CopyPieces(y.shape(), concat, members, y.data(), received.data(), false);
      return {};
    });
  });
}

}  // namespace

ir::OpDef AllToAll() {
  ir::OpDef op;
  op.name = "all_to_all";
  op.doc =
      "Cuts `x` along `split_axis` into a piece for each of the `members` of the run's group, and "
      "joins the pieces that are for this one along `concat_axis`, in the order of ranks.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {
      {"split_axis", 0}, {"concat_axis", 0}, {"members", ir::RequiredAttr{int64_t{1}}}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    RML_ASSIGN(const int64_t split, call.axis("split_axis", call.rank(0)));
    RML_ASSIGN(const int64_t concat, call.axis("concat_axis", call.rank(0)));
    return AxesBut(call, std::array{split, concat});
  });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_ASSIGN(const int split, call.axis("split_axis", call.rank(0)));
    RML_ASSIGN(const int concat, call.axis("concat_axis", call.rank(0)));
    RML_ASSIGN(const int64_t members, MembersOf(call));
    RML_ASSIGN(const ir::Dims cut, CutDims(call.input(0).dims, split, members));
    outputs->push_back({call.dtype(0), JoinedDims(cut, concat, members)});
    return {};
  };
  op.reference = ReferenceAllToAll;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const ir::OpCall& c = call.call();
    return {Emit(call.b()).one("all_to_all", {call.grad(0)},
                               {{"split_axis", c.integer("concat_axis")},
                                {"concat_axis", c.integer("split_axis")},
                                {"members", c.integer("members")}})};
  };
  op.collective = true;
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{7}}}, {{"members", 1}}},
        {{{{2, 3}}}, {{"concat_axis", -1}, {"members", 1}}},
        {{{{0, 3}}}, {{"split_axis", 1}, {"members", 1}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
