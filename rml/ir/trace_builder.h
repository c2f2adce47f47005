// TraceBuilder: calls append nodes to a graph; nothing is computed. Concrete values that reach a
// call become constants of the graph.
#pragma once

#include <span>
#include <unordered_map>

#include "rml/ir/builder.h"
#include "rml/ir/graph.h"

namespace rml::ir {

class TraceBuilder final : public Builder {
 public:
  // All must outlive the builder; values of the trace refer to the graph.
  TraceBuilder(Graph& graph, const OpSource& operators, core::Allocator& allocator);

  core::Expected<Values> Call(const OpDef& op, std::span<const Value> inputs,
                              const Attributes& attributes) override;
  core::Expected<Value> Constant(core::Tensor tensor) override;
  core::Allocator& allocator() override { return allocator_; }
  const OpSource& operators() const override { return operators_; }

  Graph& graph() { return graph_; }
  Value Input(const Type& type, std::string_view name = "") {
    return {&graph_, graph_.AddInput(type, name)};
  }
  Value Parameter(const Type& type, std::string_view name) {
    return {&graph_, graph_.AddParameter(type, name)};
  }
  Value State(const Type& type, std::string_view name) {
    return {&graph_, graph_.AddState(type, name)};
  }
  Value At(ValueId id) { return id == kNoValue ? Value() : Value(&graph_, id); }

 private:
  core::Expected<ValueId> Import(const Value& value);

  Graph& graph_;
  const OpSource& operators_;
  core::Allocator& allocator_;
  std::unordered_map<const void*, std::pair<Value, ValueId>>
      constants_;  // the value keeps its identity
};

}  // namespace rml::ir
