// The places of an axis' elements in their order.
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {

ir::OpDef Argsort() {
  ir::OpDef op;
  op.name = "argsort";
  op.doc =
      "The place where each element of the sorted `axis` was: the indices of `sort`, with its "
      "order.";
  op.inputs = {{"x"}};
  op.outputs = {{"indices", "i64"}};
  op.types = {{"T", ir::kNumbers}};
  op.attributes = {{"axis", -1}, {"descending", false}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    RML_ASSIGN(const int64_t axis, call.axis("axis", call.rank(0)));
    return SameAxes(call, 1, std::span(&axis, 1));
  });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(call.axis("axis", call.rank(0)));
    outputs->push_back({core::DType::kI64, call.input(0).dims});
    return {};
  };
  op.decompose = [](ir::ExprCall& call) -> ir::Values {
    return {Emit(call.b()).call("sort", {call.in(0)},
                                {{"axis", call.call().integer("axis")},
                                 {"descending", call.call().flag("descending")}})[1]};
  };
  op.no_gradient = true;
  op.samples = [] {
    const ir::Fill distinct = ir::Fill::Distinct();
    return std::vector<ir::Sample>{
        {{{{7}, distinct}}},
        {{{{3, 33}, distinct}}, {{"descending", true}}},
        {{{{2, 5, 3}, ir::Fill::Values({2, 1, 2, 3, 1})}}, {{"axis", 1}}},
        {{{{3, 0}}}},
    };
  };
  return op;
}

}  // namespace rml::ops
