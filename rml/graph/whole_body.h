// A graph as one call: its only node is `fused`, whose body is the graph. What a provider that
// compiles whole graphs takes, a PJRT plugin for one; any other runs the body as it is.
#pragma once

#include "rml/core/expected.h"
#include "rml/ir/builder.h"
#include "rml/ir/graph.h"

namespace rml::graph {

// Inputs, parameters, states, outputs and updates stay, in their order and by their names. All
// dimensions must be integers (see Specialize).
core::Expected<ir::Graph> AsOneCall(const ir::Graph& graph, const ir::OpSource& operators);

}  // namespace rml::graph
