// y = x
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {

ir::OpDef Copy() {
  ir::OpDef op;
  op.name = "copy";
  op.doc =
      "`x` again, in memory of its own. Where a graph runs on several devices, this is how a "
      "value goes from one to another.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain | ir::kInts4}};
  op.axes = ir::AxesRule(
      [](const ir::OpCall& call) -> core::Expected<ir::Axes> { return SameAxes(call, 1, {}); });
  op.infer = InferLikeFirst;
  op.reference = [](ir::RefCall& call) { return CopyAll(call); };
  op.vjp = [](ir::ExprCall& call) -> ir::Values { return {call.grad(0)}; };
  op.samples = [] {
    // Halves of even sizes, for 4-bit integers.
    return std::vector<ir::Sample>{{{{{4}}}}, {{{{3, 36}}}}, {{{{0, 4}}}}, {{{{2, 3, 4}}}}};
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
