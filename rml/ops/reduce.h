// The form that reductions share: attributes `axes` (none: all) and `keep_dims`.
#pragma once

#include "rml/ir/expr_call.h"
#include "rml/ir/op_def.h"
#include "rml/ir/ref_call.h"
#include "rml/ops/expr.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {

// A definition without name, doc, reference and gradient. `combine` says how partial results of a
// split axis make the whole; where that is impossible, set axes anew.
ir::OpDef Reduction(ir::Combine combine);
core::Status InferReduction(const ir::OpCall& call, ir::Types* outputs);
// So many operations for each element of x.
ir::Cost ReductionCost(const ir::OpCall& call, double operations);

// Calls body(output position, input position) for every element of input 0, in order.
template <typename Body>
core::Status ForReduction(const ir::RefCall& call, Body&& body) {
  const core::Shape& shape = call.in_shape(0);
  RML_ASSIGN(const ir::Ints axes, call.call().axes("axes", shape.rank()));
  std::array<int64_t, core::kMaxRank> dims = {};
  for (int axis = 0; axis < shape.rank(); ++axis)
    dims[static_cast<size_t>(axis)] = Contains(axes, axis) ? 1 : shape[axis];
  RML_ASSIGN(const core::Shape kept,
             core::Shape::Make({dims.data(), static_cast<size_t>(shape.rank())}));
  for (int64_t i = 0; i < shape.elements(); ++i) {
    Coordinates at = CoordinatesOf(i, shape);
    for (const int64_t axis : axes) at[static_cast<size_t>(axis)] = 0;
    body(PositionOf(at, kept), i);
  }
  return {};
}

// Elements that each output comes from.
int64_t ReducedCount(const ir::RefCall& call);

// The gradient of the output, or the output, with the reduced axes back as ones: it broadcasts
// against the input.
ir::Value Kept(const ir::ExprCall& call, const Emit& e, const ir::Value& value);

std::vector<ir::Sample> ReductionSamples(const ir::Fill& fill = ir::Fill::Normal());

}  // namespace rml::ops
