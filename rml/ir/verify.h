// The rules that every graph keeps, as code that can be run: after tracing, importing or reading,
// and after each pass.
#pragma once

#include <span>
#include <string_view>

#include "rml/core/expected.h"
#include "rml/ir/graph.h"

namespace rml::ir {

struct GraphRule {
  std::string_view name;                      // "operands-before-use"
  std::string_view says;                      // one sentence
  core::Status (*check)(const Graph& graph);  // names the node or value that breaks it
};

std::span<const GraphRule> GraphRules();

// All rules, and those of the graphs inside attributes. The message names the rule.
core::Status Verify(const Graph& graph);

}  // namespace rml::ir
