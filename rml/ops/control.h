// What operators that hold graphs share.
#pragma once

#include "rml/ir/graph.h"
#include "rml/ir/op_call.h"

namespace rml::ops {

// The graph in an attribute; an error when it is none, or has parameters or states.
core::Expected<const ir::Graph*> GraphOf(const ir::OpCall& call, std::string_view attribute);

// The types of the graph's outputs for inputs of these types, by inference through its nodes.
core::Status InferThrough(const ir::Graph& graph, std::string_view name,
                          std::span<const ir::Type> inputs, ir::Types* outputs);

// Says where the outputs for these inputs are not of these types.
core::Status CheckSignature(const ir::Graph& graph, std::string_view name,
                            std::span<const ir::Type> inputs, std::span<const ir::Type> outputs);

// The costs of all nodes; what stays inside is neither read nor written.
ir::Cost CostOfBody(const ir::OpCall& call, const ir::Graph& body);

}  // namespace rml::ops
