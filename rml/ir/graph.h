// Graph: a computation as data. Values are numbered; each is an input, a parameter, a state, a
// constant, or an output of a node. Nodes stand in an order in which they can run. Passes make new
// graphs, or append; nothing is ever removed in place.
//
// Every value may have a global name, unique in the graph: checkpoint key, sharding rule, random
// fold, error message and profile row all use it. Values without one are called %3 by their number.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rml/core/expected.h"
#include "rml/core/inline_vector.h"
#include "rml/core/tensor.h"
#include "rml/ir/attributes.h"
#include "rml/ir/op_def.h"
#include "rml/ir/type.h"
#include "rml/ir/value.h"

namespace rml::ir {

using NodeId = int32_t;
using ValueIds = core::InlineVector<ValueId, 4>;
inline constexpr ValueId kNoValue = -1;  // an optional input that is left out

enum class ValueKind : uint8_t { kInput, kParameter, kState, kConstant, kResult };
std::string_view ValueKindName(ValueKind kind);

struct GraphValue {
  ValueKind kind = ValueKind::kResult;
  Type type;
  std::string name;       // "" where it has none
  NodeId producer = -1;   // of a result
  int output = 0;         // which of the node's outputs it is
  core::Tensor constant;  // of a constant
};

struct Node {
  const OpDef* op = nullptr;
  ValueIds inputs;
  ValueIds outputs;
  Attributes attributes;
  std::string scope;  // the module path that made it, "layers.0.mlp"; for messages and profiles

  // kNoValue where it is left out, also at the end.
  ValueId input(int i) const {
    const auto place = static_cast<size_t>(i);
    return place < inputs.size() ? inputs[place] : kNoValue;
  }
};

// At the end of a run the state's next value is `value`.
struct StateUpdate {
  ValueId state = kNoValue;
  ValueId value = kNoValue;
};

class Graph {
 public:
  Graph() = default;

  // Building. Names must be new; nothing else is checked here (see Verify).
  ValueId AddInput(const Type& type, std::string_view name = "");
  ValueId AddParameter(const Type& type, std::string_view name);
  ValueId AddState(const Type& type, std::string_view name);
  ValueId AddConstant(core::Tensor tensor, std::string_view name = "");
  NodeId AddNode(const OpDef& op, std::span<const ValueId> inputs, Attributes attributes,
                 std::span<const Type> outputs);
  void AddOutput(ValueId value) { outputs_.push_back(value); }
  void AddUpdate(ValueId state, ValueId value) { updates_.push_back({state, value}); }
  core::Status SetName(ValueId value, std::string_view name);
  void set_scope(std::string_view scope) { scope_ = scope; }  // of the nodes to come
  void set_outputs(std::vector<ValueId> outputs) { outputs_ = std::move(outputs); }

  std::span<const GraphValue> values() const { return values_; }
  std::span<const Node> nodes() const { return nodes_; }
  const GraphValue& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  std::span<const ValueId> inputs() const { return inputs_; }
  std::span<const ValueId> parameters() const { return parameters_; }
  std::span<const ValueId> states() const { return states_; }
  std::span<const ValueId> outputs() const { return outputs_; }
  std::span<const StateUpdate> updates() const { return updates_; }

  ValueId Find(std::string_view name) const;  // kNoValue when there is none
  std::string NameOf(ValueId id) const;       // its name, or "%3"
  std::string Describe(NodeId id) const;      // "node 7 (matmul, layers.0.mlp)": for messages

  // Readable, complete but for the bytes of constants; see graph_json.h for the form that is read
  // back.
  //
  //   graph(%0 "x": f32[batch, 8]) {
  //     parameter %1 "w": f32[8, 4]
  //     %2: f32[batch, 4] = matmul(%0, %1)
  //     return %2
  //   }
  std::string ToString() const;

 private:
  friend struct GraphAccess;  // the readers of files, and tests that break graphs on purpose

  ValueId AddValue(GraphValue value);

  std::vector<GraphValue> values_;
  std::vector<Node> nodes_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> parameters_;
  std::vector<ValueId> states_;
  std::vector<ValueId> outputs_;
  std::vector<StateUpdate> updates_;
  std::unordered_map<std::string, ValueId> names_;
  std::string scope_;
};

}  // namespace rml::ir
