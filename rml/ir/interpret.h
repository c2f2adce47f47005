// Runs a graph node by node through a builder: an eager one computes it, a trace builder copies it
// into its own graph. Symbolic dimensions in attributes become what the inputs make them.
#pragma once

#include <span>
#include <vector>

#include "rml/core/expected.h"
#include "rml/ir/builder.h"
#include "rml/ir/graph.h"

namespace rml::ir {

// What is given for a graph's values. Parameters and states in the order of the graph's lists.
struct GraphArguments {
  std::span<const Value> inputs;
  std::span<const Value> parameters = {};
  std::span<const Value> states = {};
};

// The value of every ValueId of the graph. Fails on arguments that do not fit: their number,
// dtypes, dimensions, or one symbol that would have to be two sizes.
core::Expected<std::vector<Value>> InterpretAll(Builder& builder, const Graph& graph,
                                                const GraphArguments& arguments);

// The graph's outputs.
core::Expected<Values> Interpret(Builder& builder, const Graph& graph,
                                 std::span<const Value> inputs);

}  // namespace rml::ir
