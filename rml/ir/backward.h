// Reverse-mode differentiation, written once. One step asks an operator's own rule; what calls it
// follows either a graph, or the tape of eager calls. The builder decides whether gradients are
// computed or become nodes, so second derivatives are gradients of gradients.
#pragma once

#include <span>
#include <vector>

#include "rml/core/expected.h"
#include "rml/ir/builder.h"
#include "rml/ir/graph.h"

namespace rml::ir {

// The gradients of one call's inputs, by the operator's vjp or through its decomposition; undefined
// where none flows. Checks that each has its input's type.
core::Expected<Values> StepGradients(Builder& builder, const OpDef& op,
                                     const Attributes& attributes, std::span<const Value> inputs,
                                     std::span<const Value> outputs, std::span<const Value> grads,
                                     std::span<const bool> needs);

// Gradients of the values `wanted` of a graph whose values are all there (InterpretAll), from those
// of its outputs. Undefined where no gradient flows.
core::Expected<Values> GraphBackward(Builder& builder, const Graph& graph,
                                     std::span<const Value> values,
                                     std::span<const Value> output_grads,
                                     std::span<const ValueId> wanted);

struct BackwardOptions {
  // Nodes stay usable for another backward pass; else they give up their inputs as they are passed.
  bool keep_tape = false;
  // Gradients require gradients in turn.
  bool create_graph = false;
};

// The same along the tape, for concrete values.
core::Expected<Values> TapeBackward(Builder& builder, std::span<const Value> outputs,
                                    std::span<const Value> output_grads,
                                    std::span<const Value> wanted,
                                    const BackwardOptions& options = {});

}  // namespace rml::ir
