// Values of one shape along a new axis.
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status InferStack(const ir::OpCall& call, ir::Types* outputs) {
  if (call.inputs() == 0) return core::InvalidArgument("there are no inputs");
  RML_TRY(CheckRank(call.rank(0) + 1));
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0) + 1));
  for (int i = 1; i < call.inputs(); ++i) {
    if (call.input(i).dims == call.input(0).dims) continue;
    return core::InvalidArgument(call.input_name(0), " is ", call.input(0).dims.ToString(), " and ",
                                 call.input_name(i), " ", call.input(i).dims.ToString());
  }
  ir::Type type = call.input(0);
  type.dims.Insert(axis, call.inputs());
  outputs->push_back(type);
  return {};
}

core::Expected<ir::Axes> ResolveStack(const ir::OpCall& call) {
  ir::Axes axes;
  if (call.inputs() == 0) return axes;
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0) + 1));
  for (int i = 0; i < call.rank(0); ++i) {
    axes.push_back(FreeAxis(i, std::vector<int>(static_cast<size_t>(call.inputs()), i),
                            {i < axis ? i : i + 1}));
  }
  return axes;
}

}  // namespace

ir::OpDef Stack() {
  ir::OpDef op;
  op.name = "stack";
  op.doc = "The inputs, all of one shape, along a new axis, which is `axis` of the result.";
  op.inputs = {{"inputs", "T", ir::Arity::kMany}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"axis", 0}};
  op.axes = ir::AxesRule(ResolveStack);
  op.infer = InferStack;
  op.decompose = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    ir::Dims dims = call.in(0).type().dims;
    const int axis = *call.call().axis("axis", dims.rank() + 1);
    dims.Insert(axis, 1);
    ir::Values rows;
    for (const ir::Value& x : call.all_inputs()) rows.push_back(e.reshape(x, dims));
    return {e.call("concat", std::span(rows.begin(), rows.size()), {{"axis", axis}})[0]};
  };
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{}}, {{}}, {{}}}},
        {{{{7}}}},
        {{{{2, 3}}, {{2, 3}}}, {{"axis", 1}}},
        {{{{4, 17}}, {{4, 17}}, {{4, 17}}}, {{"axis", -1}}},
        {{{{0, 3}}, {{0, 3}}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
