#include "rml/ir/verify.h"

#include <map>
#include <string>
#include <vector>

#include "rml/ir/op_call.h"

namespace rml::ir {

using core::Status;
using core::StrCat;

namespace {

bool InRange(const Graph& graph, ValueId id) {
  return id >= 0 && static_cast<size_t>(id) < graph.values().size();
}

template <typename... Args>
Status Broken(const Args&... args) {
  return core::InvalidArgument(args...);
}

Status KnownOperators(const Graph& graph) {
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    if (graph.nodes()[n].op == nullptr) return Broken("node ", n, " has no operator");
  }
  return {};
}

Status IdsExist(const Graph& graph) {
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && !InRange(graph, id))
        return Broken(graph.Describe(static_cast<NodeId>(n)), " reads value ", id,
                      ", which is not there");
    }
    for (const ValueId id : node.outputs) {
      if (!InRange(graph, id))
        return Broken(graph.Describe(static_cast<NodeId>(n)), " makes value ", id,
                      ", which is not there");
    }
  }
  for (const ValueId id : graph.outputs()) {
    if (!InRange(graph, id)) return Broken("the graph returns value ", id, ", which is not there");
  }
  for (const StateUpdate& update : graph.updates()) {
    if (!InRange(graph, update.state) || !InRange(graph, update.value))
      return Broken("an update of value ", update.state, " names a value that is not there");
  }
  return {};
}

Status OneProducer(const Graph& graph) {
  std::vector<bool> made(graph.values().size());
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    const Node& node = graph.nodes()[n];
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const GraphValue& value = graph.value(node.outputs[i]);
      const bool agrees = value.kind == ValueKind::kResult && value.producer == id &&
                          value.output == static_cast<int>(i);
      if (!agrees || made[static_cast<size_t>(node.outputs[i])])
        return Broken(graph.Describe(id), " makes ", graph.NameOf(node.outputs[i]),
                      ", which something else makes");
      made[static_cast<size_t>(node.outputs[i])] = true;
    }
  }
  for (size_t v = 0; v < graph.values().size(); ++v) {
    if (graph.values()[v].kind == ValueKind::kResult && !made[v])
      return Broken("nothing makes ", graph.NameOf(static_cast<ValueId>(v)));
  }
  return {};
}

Status OperandsBeforeUse(const Graph& graph) {
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    for (const ValueId id : graph.nodes()[n].inputs) {
      if (id == kNoValue || graph.value(id).kind != ValueKind::kResult) continue;
      if (graph.value(id).producer >= static_cast<NodeId>(n))
        return Broken(graph.Describe(static_cast<NodeId>(n)), " reads ", graph.NameOf(id),
                      " before it is made");
    }
  }
  return {};
}

Status KindsAgree(const Graph& graph) {
  const auto check = [&](std::span<const ValueId> ids, ValueKind kind) -> Status {
    for (const ValueId id : ids) {
      if (!InRange(graph, id) || graph.value(id).kind != kind)
        return Broken("value ", id, " is listed as ", ValueKindName(kind), " and is none");
    }
    return {};
  };
  RML_TRY(check(graph.inputs(), ValueKind::kInput));
  RML_TRY(check(graph.parameters(), ValueKind::kParameter));
  RML_TRY(check(graph.states(), ValueKind::kState));
  size_t listed = graph.inputs().size() + graph.parameters().size() + graph.states().size();
  for (const GraphValue& value : graph.values()) {
    if (value.kind == ValueKind::kResult || value.kind == ValueKind::kConstant) ++listed;
    if (value.kind == ValueKind::kConstant && !value.constant.defined())
      return Broken("a constant has no content");
  }
  return listed == graph.values().size()
             ? Status()
             : Broken("values and lists of inputs, parameters and states disagree");
}

Status TypesFollow(const Graph& graph) {
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    const Node& node = graph.nodes()[n];
    core::InlineVector<OpCall::Input, 4> known;
    for (const ValueId input : node.inputs) {
      if (input == kNoValue) {
        known.push_back({.type = {}, .given = false});
        continue;
      }
      const GraphValue& v = graph.value(input);
      known.push_back(
          {.type = v.type, .constant = v.kind == ValueKind::kConstant ? &v.constant : nullptr});
    }
    OpCall call(*node.op, known, node.attributes);
    const std::string prefix = StrCat(node.op->name, n);
    call.set_fresh_prefix(prefix);
    Types types;
    const Status inferred = InferTypes(call, &types);
    if (!inferred.ok()) return inferred.WithContext(graph.Describe(id));
    if (types.size() != node.outputs.size())
      return Broken(graph.Describe(id), " has ", node.outputs.size(),
                    " outputs, and inference says ", types.size());
    for (size_t i = 0; i < types.size(); ++i) {
      const Type& stated = graph.value(node.outputs[i]).type;
      if (stated == types[i]) continue;
      // The name of a dimension that only the run knows may have come from another place.
      bool same = stated.dtype == types[i].dtype && stated.rank() == types[i].rank();
      for (int axis = 0; same && axis < stated.rank(); ++axis) {
        const Dim a = stated.dims[axis];
        const Dim b = types[i].dims[axis];
        same = a == b || (a.is_symbol() && b.is_symbol() && b.symbol_name().starts_with(prefix) &&
                          a.max() <= b.max());
      }
      if (!same)
        return Broken(graph.Describe(id), ": ", graph.NameOf(node.outputs[i]), " is stated as ",
                      stated.ToString(), " and inferred as ", types[i].ToString());
    }
  }
  return {};
}

Status UpdatesFit(const Graph& graph) {
  std::vector<bool> updated(graph.values().size());
  for (const StateUpdate& update : graph.updates()) {
    const GraphValue& state = graph.value(update.state);
    if (state.kind != ValueKind::kState)
      return Broken(graph.NameOf(update.state), " is updated and is no state");
    if (updated[static_cast<size_t>(update.state)])
      return Broken("state ", graph.NameOf(update.state), " is updated twice");
    updated[static_cast<size_t>(update.state)] = true;
    const Type& next = graph.value(update.value).type;
    if (!(next == state.type))
      return Broken("state ", graph.NameOf(update.state), " is ", state.type.ToString(),
                    ", and its update is ", next.ToString());
  }
  return {};
}

Status SymbolsAreOne(const Graph& graph) {
  std::map<std::string, Dim, std::less<>> symbols;
  for (size_t v = 0; v < graph.values().size(); ++v) {
    for (const Dim dim : graph.values()[v].type.dims) {
      if (dim.is_integer()) continue;
      for (const Dim symbol : dim.Symbols()) {
        const auto [place, added] = symbols.try_emplace(std::string(symbol.symbol_name()), symbol);
        if (!(place->second == symbol))
          return Broken(graph.NameOf(static_cast<ValueId>(v)), " has the dimension \"",
                        symbol.symbol_name(), "\" with other bounds than before");
      }
    }
  }
  return {};
}

Status NamesAgree(const Graph& graph) {
  for (size_t v = 0; v < graph.values().size(); ++v) {
    const std::string& name = graph.values()[v].name;
    if (!name.empty() && graph.Find(name) != static_cast<ValueId>(v))
      return Broken("two values are called \"", name, "\"");
  }
  return {};
}

constexpr GraphRule kRules[] = {
    {"known-operators", "every node has an operator", KnownOperators},
    {"ids-exist", "every value that is named is there", IdsExist},
    {"kinds-agree", "values and the lists of inputs, parameters and states agree", KindsAgree},
    {"one-producer", "every result is made once, by the node that it names", OneProducer},
    {"operands-before-use", "nodes stand in an order in which they can run", OperandsBeforeUse},
    {"types-follow", "the types of results are those that the operators infer", TypesFollow},
    {"updates-fit", "a state is updated at most once, by a value of its type", UpdatesFit},
    {"symbols-are-one", "a dimension's name has one pair of bounds", SymbolsAreOne},
    {"names-agree", "names are unique", NamesAgree},
};

}  // namespace

std::span<const GraphRule> GraphRules() { return kRules; }

Status Verify(const Graph& graph) {
  for (const GraphRule& rule : kRules) {
    const Status status = rule.check(graph);
    if (!status.ok()) return status.WithContext(StrCat("graph rule ", rule.name));
  }
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    for (size_t i = 0; i < node.op->attributes.size(); ++i) {
      const auto* const inner = std::get_if<GraphRef>(&node.attributes.at(node.op->attributes, i));
      if (inner == nullptr || *inner == nullptr) continue;
      const Status status = Verify(**inner);
      if (!status.ok())
        return status.WithContext(
            StrCat(graph.Describe(static_cast<NodeId>(n)), ", ", node.op->attributes[i].name));
    }
  }
  return {};
}

}  // namespace rml::ir
