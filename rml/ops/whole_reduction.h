// Reductions whose partial results do not make the whole, such as a variance: the axes that they
// reduce must be whole.
#pragma once

#include "rml/ops/reduce.h"

namespace rml::ops {

ir::OpDef WholeReduction();
// The axes of a call of a reduction, with those that it reduces whole.
core::Expected<ir::Axes> WholeReductionAxes(const ir::OpCall& call);

}  // namespace rml::ops
