#include "rml/ir/interpret.h"

#include <unordered_map>

#include "rml/ir/symbol_bindings.h"

namespace rml::ir {

using core::Expected;
using core::Status;

namespace {

Status Give(const Graph& graph, std::span<const ValueId> ids, std::span<const Value> given,
            std::string_view kind, SymbolBindings* bindings, std::vector<Value>* values) {
  if (ids.size() != given.size()) {
    return core::InvalidArgument(given.size(), " ", kind, "s are given, and the graph has ",
                                 ids.size());
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    const Status fits = bindings->Bind(graph.value(ids[i]).type, given[i].type());
    if (!fits.ok()) return fits.WithContext(core::StrCat(kind, " ", graph.NameOf(ids[i])));
    (*values)[static_cast<size_t>(ids[i])] = given[i];
  }
  return {};
}

}  // namespace

Expected<std::vector<Value>> InterpretAll(Builder& builder, const Graph& graph,
                                          const GraphArguments& arguments) {
  std::vector<Value> values(graph.values().size());
  SymbolBindings bindings;
  RML_TRY(Give(graph, graph.inputs(), arguments.inputs, "input", &bindings, &values));
  RML_TRY(Give(graph, graph.parameters(), arguments.parameters, "parameter", &bindings, &values));
  RML_TRY(Give(graph, graph.states(), arguments.states, "state", &bindings, &values));
  for (size_t v = 0; v < values.size(); ++v) {
    const GraphValue& value = graph.values()[v];
    if (value.kind != ValueKind::kConstant) continue;
    RML_ASSIGN(values[v], builder.Constant(value.constant));
  }
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    Values inputs;
    for (const ValueId id : node.inputs)
      inputs.push_back(id == kNoValue ? Value() : values[static_cast<size_t>(id)]);
    RML_ASSIGN(const Attributes attributes, bindings.Substitute(*node.op, node.attributes));
    auto outputs = builder.Call(*node.op, inputs, attributes);
    if (!outputs.ok()) return outputs.status().WithContext(graph.Describe(static_cast<NodeId>(n)));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      // What a symbol of this node came to, for the nodes after it.
      RML_TRY(bindings.BindResult(graph.value(id).type, (*outputs)[i].type()));
      values[static_cast<size_t>(id)] = (*outputs)[i];
    }
  }
  return values;
}

Expected<Values> Interpret(Builder& builder, const Graph& graph, std::span<const Value> inputs) {
  RML_ASSIGN(const std::vector<Value> values, InterpretAll(builder, graph, {.inputs = inputs}));
  Values outputs;
  for (const ValueId id : graph.outputs()) outputs.push_back(values[static_cast<size_t>(id)]);
  return outputs;
}

}  // namespace rml::ir
