#include "rml/ops/whole_reduction.h"

namespace rml::ops {

core::Expected<ir::Axes> WholeReductionAxes(const ir::OpCall& call) {
  RML_ASSIGN(ir::Axes axes, Reduction(ir::Combine::kSum).axes.function()(call));
  for (ir::NamedAxis& axis : axes) {
    if (axis.role == ir::AxisRole::kReduced) axis.role = ir::AxisRole::kWhole;
  }
  return axes;
}

ir::OpDef WholeReduction() {
  ir::OpDef op = Reduction(ir::Combine::kSum);
  op.axes = ir::AxesRule(WholeReductionAxes);
  return op;
}

}  // namespace rml::ops
