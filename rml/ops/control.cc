#include "rml/ops/control.h"

#include "rml/ir/interpret.h"
#include "rml/ir/trace_builder.h"
#include "rml/ops/registry.h"

namespace rml::ops {

using core::Expected;
using core::Status;
using core::StrCat;
using ir::Dims;
using ir::Graph;
using ir::Type;
using ir::Types;
using ir::Value;

Expected<const Graph*> GraphOf(const ir::OpCall& call, std::string_view attribute) {
  const ir::GraphRef& graph = call.attr<ir::GraphRef>(attribute);
  if (graph == nullptr) return core::InvalidArgument(attribute, " is no graph");
  if (!graph->parameters().empty() || !graph->states().empty()) {
    return core::InvalidArgument(attribute, " has parameters or states; pass them in as inputs");
  }
  return graph.get();
}

namespace {

// The graph copied for inputs of these types: its values have the types that they will have.
Expected<ir::Values> Copy(const Graph& graph, std::span<const Type> inputs, Graph* copy) {
  ir::TraceBuilder trace(*copy, BuiltinOps(), core::Cpu());
  ir::Values values;
  for (const Type& type : inputs) values.push_back(trace.Input(type));
  return ir::Interpret(trace, graph, values);
}

}  // namespace

Status InferThrough(const Graph& graph, std::string_view name, std::span<const Type> inputs,
                    Types* outputs) {
  Graph copy;
  const auto values = Copy(graph, inputs, &copy);
  if (!values.ok()) return values.status().WithContext(name);
  for (const Value& value : *values) outputs->push_back(value.type());
  return {};
}

Status CheckSignature(const Graph& graph, std::string_view name, std::span<const Type> inputs,
                      std::span<const Type> outputs) {
  Types found;
  RML_TRY(InferThrough(graph, name, inputs, &found));
  if (found.size() != outputs.size()) {
    return core::InvalidArgument(name, " has ", found.size(), " outputs, expected ",
                                 outputs.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (found[i] == outputs[i]) continue;
    return core::InvalidArgument("output ", i, " of ", name, " is ", found[i].ToString(),
                                 ", expected ", outputs[i].ToString());
  }
  return {};
}

ir::Cost CostOfBody(const ir::OpCall& call, const Graph& body) {
  Types inputs;
  for (int i = 0; i < call.inputs(); ++i) inputs.push_back(call.input(i));
  Graph copy;
  const auto outputs = Copy(body, inputs, &copy);
  ir::Cost cost;
  if (!outputs.ok()) return cost;
  const auto bytes = [](const Type& type) {
    const core::DTypeInfo& info = core::Info(type.dtype);
    return static_cast<double>(type.dims.elements().max()) * info.block_bytes / info.block_elements;
  };
  for (const ir::Node& node : copy.nodes()) {
    std::vector<ir::OpCall::Input> known;
    Types made;
    for (const ir::ValueId id : node.inputs) {
      known.push_back(id == ir::kNoValue ? ir::OpCall::Input{.type = {}, .given = false}
                                         : ir::OpCall::Input{.type = copy.value(id).type});
    }
    for (const ir::ValueId id : node.outputs) made.push_back(copy.value(id).type);
    cost.flops += ir::CostOf(ir::OpCall(*node.op, known, node.attributes), made).flops;
  }
  for (const Type& type : inputs) cost.bytes_read += bytes(type);
  for (const Value& value : *outputs) cost.bytes_written += bytes(value.type());
  return cost;
}

}  // namespace rml::ops
