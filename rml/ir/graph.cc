#include "rml/ir/graph.h"

#include "rml/core/check.h"

namespace rml::ir {

using core::StrCat;

std::string_view ValueKindName(ValueKind kind) {
  switch (kind) {
    case ValueKind::kInput:
      return "input";
    case ValueKind::kParameter:
      return "parameter";
    case ValueKind::kState:
      return "state";
    case ValueKind::kConstant:
      return "constant";
    case ValueKind::kResult:
      return "result";
  }
  return "?";
}

ValueId Graph::AddValue(GraphValue value) {
  const auto id = static_cast<ValueId>(values_.size());
  if (!value.name.empty()) {
    const bool added = names_.emplace(value.name, id).second;
    RML_CHECK(added);
  }
  values_.push_back(std::move(value));
  return id;
}

ValueId Graph::AddInput(const Type& type, std::string_view name) {
  const ValueId id = AddValue(
      {.kind = ValueKind::kInput, .type = type, .name = std::string(name), .constant = {}});
  inputs_.push_back(id);
  return id;
}

ValueId Graph::AddParameter(const Type& type, std::string_view name) {
  const ValueId id = AddValue(
      {.kind = ValueKind::kParameter, .type = type, .name = std::string(name), .constant = {}});
  parameters_.push_back(id);
  return id;
}

ValueId Graph::AddState(const Type& type, std::string_view name) {
  const ValueId id = AddValue(
      {.kind = ValueKind::kState, .type = type, .name = std::string(name), .constant = {}});
  states_.push_back(id);
  return id;
}

ValueId Graph::AddConstant(core::Tensor tensor, std::string_view name) {
  const Type type = {tensor.dtype(), Dims(tensor.shape())};
  return AddValue({.kind = ValueKind::kConstant,
                   .type = type,
                   .name = std::string(name),
                   .constant = std::move(tensor)});
}

NodeId Graph::AddNode(const OpDef& op, std::span<const ValueId> inputs, Attributes attributes,
                      std::span<const Type> outputs) {
  const auto id = static_cast<NodeId>(nodes_.size());
  Node& node = nodes_.emplace_back();
  node.op = &op;
  node.inputs = ValueIds(inputs);
  node.attributes = std::move(attributes);
  node.scope = scope_;
  for (size_t i = 0; i < outputs.size(); ++i) {
    node.outputs.push_back(AddValue({.type = outputs[i],
                                     .name = {},
                                     .producer = id,
                                     .output = static_cast<int>(i),
                                     .constant = {}}));
  }
  return id;
}

core::Status Graph::SetName(ValueId value, std::string_view name) {
  GraphValue& named = values_[static_cast<size_t>(value)];
  if (named.name == name) return {};
  if (!name.empty() && !names_.emplace(std::string(name), value).second) {
    return core::InvalidArgument("the graph has a value \"", name, "\" already");
  }
  names_.erase(named.name);
  named.name = std::string(name);
  return {};
}

ValueId Graph::Find(std::string_view name) const {
  const auto place = names_.find(std::string(name));
  return place == names_.end() ? kNoValue : place->second;
}

std::string Graph::NameOf(ValueId id) const {
  if (id < 0 || static_cast<size_t>(id) >= values_.size()) return "none";
  const std::string& name = value(id).name;
  return name.empty() ? StrCat("%", id) : name;
}

std::string Graph::Describe(NodeId id) const {
  const Node& n = node(id);
  return StrCat("node ", id, " (", n.op == nullptr ? "?" : n.op->name, n.scope.empty() ? "" : ", ",
                n.scope, ")");
}

namespace {

std::string Indented(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

}  // namespace

std::string Graph::ToString() const {
  const auto declare = [&](ValueId id) {
    const GraphValue& v = value(id);
    return StrCat("%", id, v.name.empty() ? "" : " \"", v.name, v.name.empty() ? "" : "\"", ": ",
                  v.type.ToString());
  };
  std::string out = "graph(";
  for (size_t i = 0; i < inputs_.size(); ++i) out += StrCat(i > 0 ? ", " : "", declare(inputs_[i]));
  out += ") {\n";
  for (size_t i = 0; i < values_.size(); ++i) {
    const ValueKind kind = values_[i].kind;
    if (kind == ValueKind::kInput || kind == ValueKind::kResult) continue;
    out += StrCat("  ", ValueKindName(kind), " ", declare(static_cast<ValueId>(i)), "\n");
  }
  for (const Node& node : nodes_) {
    out += "  ";
    for (size_t i = 0; i < node.outputs.size(); ++i)
      out += StrCat(i > 0 ? ", " : "", declare(node.outputs[i]));
    out += StrCat(" = ", node.op == nullptr ? "?" : node.op->name, "(");
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      out += StrCat(i > 0 ? ", " : "",
                    node.inputs[i] == kNoValue ? "none" : StrCat("%", node.inputs[i]));
    }
    for (size_t i = 0; node.op != nullptr && i < node.op->attributes.size(); ++i) {
      const AttrDef& def = node.op->attributes[i];
      const AttrValue& attr = node.attributes.at(node.op->attributes, i);
      if (AttrEqual(attr, def.fallback)) continue;
      const bool graph = std::holds_alternative<GraphRef>(attr);
      out += StrCat(node.inputs.empty() && out.back() == '(' ? "" : ", ", def.name, "=",
                    graph ? Indented(ir::ToString(attr)) : ir::ToString(attr));
    }
    out += ")\n";
  }
  for (const StateUpdate& update : updates_)
    out += StrCat("  update %", update.state, " = %", update.value, "\n");
  out += "  return";
  for (size_t i = 0; i < outputs_.size(); ++i) out += StrCat(i > 0 ? ", %" : " %", outputs_[i]);
  return out + "\n}";
}

}  // namespace rml::ir
