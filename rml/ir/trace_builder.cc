#include "rml/ir/trace_builder.h"

#include "rml/ir/op_call.h"

namespace rml::ir {

using core::Expected;

TraceBuilder::TraceBuilder(Graph& graph, const OpSource& operators, core::Allocator& allocator)
    : graph_(graph), operators_(operators), allocator_(allocator) {}

Expected<ValueId> TraceBuilder::Import(const Value& value) {
  if (!value.defined()) return kNoValue;
  if (value.traced()) {
    if (value.graph() == &graph_) return value.id();
    return core::InvalidArgument("a value of another graph is used; pass it in as an input");
  }
  const auto known = constants_.find(value.identity());
  if (known != constants_.end()) return known->second.second;
  const ValueId id = graph_.AddConstant(value.tensor());
  constants_.emplace(value.identity(), std::pair(value, id));
  return id;
}

Expected<Values> TraceBuilder::Call(const OpDef& op, std::span<const Value> inputs,
                                    const Attributes& attributes) {
  ValueIds ids;
  core::InlineVector<OpCall::Input, 4> known;
  for (const Value& value : inputs) {
    auto id = Import(value);
    if (!id.ok()) return id.status().WithContext(op.name);
    ids.push_back(*id);
  }
  // Only now, for an import may move the graph's values.
  for (const ValueId id : ids) {
    if (id == kNoValue) {
      known.push_back({.type = {}, .given = false});
      continue;
    }
    const GraphValue& v = graph_.value(id);
    known.push_back(
        {.type = v.type, .constant = v.kind == ValueKind::kConstant ? &v.constant : nullptr});
  }
  OpCall call(op, known, attributes);
  const std::string prefix = core::StrCat(op.name, graph_.nodes().size());
  call.set_fresh_prefix(prefix);
  Types types;
  RML_TRY(InferTypes(call, &types));
  const NodeId node = graph_.AddNode(op, ids, attributes, types);
  Values values;
  for (const ValueId id : graph_.node(node).outputs) values.push_back(Value(&graph_, id));
  return values;
}

Expected<Value> TraceBuilder::Constant(core::Tensor tensor) {
  return Value(&graph_, graph_.AddConstant(std::move(tensor)));
}

}  // namespace rml::ir
