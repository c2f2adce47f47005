// y = Σ x / n over axes
#include "rml/ops/norm.h"
#include "rml/ops/reduce.h"

namespace rml::ops {

ir::OpDef Mean() {
  ir::OpDef op = Reduction(ir::Combine::kSum);
  op.name = "mean";
  op.doc = "Mean over `axes` (none: all). Of no elements: NaN.";
  // A mean of means needs the sizes: only the axes that stay are free.
  const ir::AxesRule sums = op.axes;
  op.axes = ir::AxesRule([sums](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    RML_ASSIGN(ir::Axes axes, sums.function()(call));
    for (ir::NamedAxis& axis : axes) {
      if (axis.role == ir::AxisRole::kReduced) axis.role = ir::AxisRole::kWhole;
    }
    return axes;
  });
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto x = call.in<double>(0);
    const auto y = call.out<double>(0);
    RML_TRY(ForReduction(call, [&](int64_t out, int64_t in) { y[out] += x[in]; }));
    for (double& value : y) value /= static_cast<double>(ReducedCount(call));
    return {};
  };
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Dims& dims = call.in(0).type().dims;
    const auto axes = call.call().axes("axes", dims.rank());
    ir::Dim count = 1;
    for (const int64_t axis : *axes) count = count * dims[static_cast<int>(axis)];
    // A count beyond 65,504 is infinite in f16.
    const core::DType dtype = call.in(0).dtype();
    const core::DType wide = StatType(dtype);
    const ir::Value kept = e.cast(Kept(call, e, call.grad(0)), wide);
    return {e.broadcast(e.cast(e.div(kept, e.size(count, wide)), dtype), dims)};
  };
  return op;
}

}  // namespace rml::ops
