#include "rml/graph/whole_body.h"

#include <memory>
#include <vector>

#include "rml/core/error.h"
#include "rml/ir/interpret.h"
#include "rml/ir/trace_builder.h"

namespace rml::graph {

using ir::Graph;
using ir::Value;
using ir::ValueId;

namespace {

// The graph with parameters and states as further inputs, and next states as further outputs.
core::Expected<Graph> BodyOf(const Graph& graph, const ir::OpSource& operators) {
  Graph body;
  ir::TraceBuilder trace(body, operators, core::Cpu());
  const auto inputs_for = [&](std::span<const ValueId> ids) {
    std::vector<Value> made;
    for (const ValueId id : ids)
      made.push_back(trace.Input(graph.value(id).type, graph.NameOf(id)));
    return made;
  };
  const std::vector<Value> inputs = inputs_for(graph.inputs());
  const std::vector<Value> parameters = inputs_for(graph.parameters());
  const std::vector<Value> states = inputs_for(graph.states());
  RML_ASSIGN(const std::vector<Value> values,
             ir::InterpretAll(trace, graph,
                              {.inputs = inputs, .parameters = parameters, .states = states}));
  for (const ValueId id : graph.outputs()) body.AddOutput(values[static_cast<size_t>(id)].id());
  for (const ir::StateUpdate& update : graph.updates())
    body.AddOutput(values[static_cast<size_t>(update.value)].id());
  return body;
}

}  // namespace

core::Expected<Graph> AsOneCall(const Graph& graph, const ir::OpSource& operators) {
  RML_ASSIGN(Graph body, BodyOf(graph, operators));
  RML_ASSIGN(const ir::OpDef* const fused, operators.Find("fused"));
  Graph whole;
  ir::TraceBuilder trace(whole, operators, core::Cpu());
  std::vector<Value> given;
  for (const ValueId id : graph.inputs())
    given.push_back(trace.Input(graph.value(id).type, graph.NameOf(id)));
  for (const ValueId id : graph.parameters())
    given.push_back(trace.Parameter(graph.value(id).type, graph.NameOf(id)));
  std::vector<Value> states;
  for (const ValueId id : graph.states())
    states.push_back(trace.State(graph.value(id).type, graph.NameOf(id)));
  given.insert(given.end(), states.begin(), states.end());

  const ir::NamedAttr attribute("body", std::make_shared<const Graph>(std::move(body)));
  RML_ASSIGN(const ir::Attributes attributes,
             ir::Attributes::Bind(fused->attributes, {&attribute, 1}));
  RML_ASSIGN(const ir::Values made, trace.Call(*fused, given, attributes));
  const size_t outputs = graph.outputs().size();
  for (size_t i = 0; i < outputs; ++i) whole.AddOutput(made[i].id());
  for (size_t i = 0; i < graph.updates().size(); ++i) {
    for (size_t s = 0; s < states.size(); ++s) {
      if (graph.states()[s] == graph.updates()[i].state)
        whole.AddUpdate(states[s].id(), made[outputs + i].id());
    }
  }
  return whole;
}

}  // namespace rml::graph
