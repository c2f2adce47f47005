// y = x, and no gradient comes back
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {

ir::OpDef StopGradient() {
  ir::OpDef op;
  op.name = "stop_gradient";
  op.doc = "`x` again, as a constant: gradients do not flow through it.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.axes = ir::AxesRule(
      [](const ir::OpCall& call) -> core::Expected<ir::Axes> { return SameAxes(call, 1, {}); });
  op.infer = InferLikeFirst;
  op.reference = [](ir::RefCall& call) { return CopyAll(call); };
  op.no_gradient = true;
  op.samples = [] { return std::vector<ir::Sample>{{{{{}}}}, {{{{3, 33}}}}, {{{{0, 2}}}}}; };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
