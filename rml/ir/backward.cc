#include "rml/ir/backward.h"

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>

#include "rml/core/check.h"
#include "rml/core/error.h"
#include "rml/ir/expr_call.h"
#include "rml/ir/interpret.h"
#include "rml/ir/op_call.h"
#include "rml/ir/tape.h"
#include "rml/ir/trace_builder.h"

namespace rml::ir {

using core::Expected;
using core::Status;
using core::StrCat;

namespace {

using Flags = core::InlineVector<bool, 8>;

Value Sum(Builder& builder, const Value& a, const Value& b) {
  if (!a.defined()) return b;
  if (!b.defined()) return a;
  const Value both[] = {a, b};
  return builder.CallByName("add", both, {})[0];
}

OpCall::Input InputOf(const Value& value) {
  if (!value.defined()) return {.type = {}, .given = false};
  return {.type = value.type()};
}

// The decomposition of a call, as a graph with the call's inputs.
Expected<Graph> TraceDecomposition(Builder& builder, const OpCall& call) {
  Graph graph;
  TraceBuilder trace(graph, builder.operators(), builder.allocator());
  Values inputs;
  for (const OpCall::Input& input : call.all_inputs())
    inputs.push_back(input.given ? trace.Input(input.type) : Value());
  const ExprCall expr(trace, call, inputs);
  const Values outputs = call.op().decompose(const_cast<ExprCall&>(expr));
  for (const Value& value : outputs) {
    if (value.traced()) {
      graph.AddOutput(value.id());
    } else {
      RML_ASSIGN(const Value constant, trace.Constant(value.tensor()));
      graph.AddOutput(constant.id());
    }
  }
  return graph;
}

Expected<Values> ThroughDecomposition(Builder& builder, const OpCall& call,
                                      std::span<const Value> inputs, std::span<const Value> grads) {
  RML_ASSIGN(const Graph graph, TraceDecomposition(builder, call));
  Values given;
  for (const Value& value : inputs) {
    if (value.defined()) given.push_back(value);
  }
  RML_ASSIGN(const std::vector<Value> values, InterpretAll(builder, graph, {.inputs = given}));
  RML_ASSIGN(const Values found, GraphBackward(builder, graph, values, grads, graph.inputs()));
  Values result;
  size_t next = 0;
  for (const Value& value : inputs) result.push_back(value.defined() ? found[next++] : Value());
  return result;
}

}  // namespace

Expected<Values> StepGradients(Builder& builder, const OpDef& op, const Attributes& attributes,
                               std::span<const Value> inputs, std::span<const Value> outputs,
                               std::span<const Value> grads, std::span<const bool> needs) {
  core::InlineVector<OpCall::Input, 4> known;
  for (const Value& value : inputs) known.push_back(InputOf(value));
  const OpCall call(op, known, attributes);
  Values result(inputs.size());
  if (op.no_gradient) return result;
  try {
    if (op.vjp) {
      ExprCall expr(builder, call, inputs, outputs, grads, needs);
      result = op.vjp(expr);
    } else {
      RML_ASSIGN(result, ThroughDecomposition(builder, call, inputs, grads));
    }
  } catch (const Error& error) {
    return error.status().WithContext(StrCat("gradient of ", op.name));
  }
  result.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!result[i].defined()) continue;
    const Type want = inputs[i].type();
    const Type got = result[i].type();
    if (want == got) continue;
    return core::Internal("gradient of ", op.name, ": input ", call.input_name(static_cast<int>(i)),
                          " is ", want.ToString(), ", and its gradient is ", got.ToString());
  }
  return result;
}

Expected<Values> GraphBackward(Builder& builder, const Graph& graph, std::span<const Value> values,
                               std::span<const Value> output_grads,
                               std::span<const ValueId> wanted) {
  RML_CHECK(values.size() == graph.values().size());
  RML_CHECK(output_grads.size() == graph.outputs().size());
  // Which values lead to something that is wanted.
  std::vector<bool> leads(graph.values().size());
  for (const ValueId id : wanted) leads[static_cast<size_t>(id)] = true;
  for (const Node& node : graph.nodes()) {
    const bool any = std::ranges::any_of(
        node.inputs, [&](ValueId id) { return id != kNoValue && leads[static_cast<size_t>(id)]; });
    for (const ValueId id : node.outputs) {
      if (any && CarriesGradient(graph.value(id).type.dtype)) leads[static_cast<size_t>(id)] = true;
    }
  }
  std::vector<Value> grads(graph.values().size());
  try {
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      Value& grad = grads[static_cast<size_t>(graph.outputs()[i])];
      grad = Sum(builder, grad, output_grads[i]);
    }
    for (size_t n = graph.nodes().size(); n-- > 0;) {
      const Node& node = graph.nodes()[n];
      Values inputs, outputs, out_grads;
      Flags needs;
      bool flows = false;
      bool wants = false;
      for (const ValueId id : node.outputs) {
        outputs.push_back(values[static_cast<size_t>(id)]);
        out_grads.push_back(grads[static_cast<size_t>(id)]);
        flows = flows || out_grads.back().defined();
      }
      for (const ValueId id : node.inputs) {
        const bool need = id != kNoValue && leads[static_cast<size_t>(id)] &&
                          CarriesGradient(graph.value(id).type.dtype);
        inputs.push_back(id == kNoValue ? Value() : values[static_cast<size_t>(id)]);
        needs.push_back(need);
        wants = wants || need;
      }
      if (!flows || !wants) continue;
      auto found =
          StepGradients(builder, *node.op, node.attributes, inputs, outputs, out_grads, needs);
      if (!found.ok()) return found.status().WithContext(graph.Describe(static_cast<NodeId>(n)));
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (!needs[i]) continue;
        Value& grad = grads[static_cast<size_t>(node.inputs[i])];
        grad = Sum(builder, grad, (*found)[i]);
      }
    }
  } catch (const Error& error) {
    return error.status();
  }
  Values result;
  for (const ValueId id : wanted) result.push_back(grads[static_cast<size_t>(id)]);
  return result;
}

namespace {

// A backward pass along the tape: nodes from the latest to the earliest, each once.
class TapeWalk {
 public:
  TapeWalk(Builder& builder, const BackwardOptions& options)
      : builder_(builder), options_(options) {}

  void Arrive(const Value& value, const Value& grad) {
    if (!grad.defined()) return;
    if (const std::shared_ptr<TapeNode>& node = value.producer(); node != nullptr) {
      if (node->released) {
        throw Error(core::FailedPrecondition(
            node->op.name,
            ": a backward pass has used up this part of the tape; keep it to go back again"));
      }
      Pending& pending = pending_[node->order];
      pending.node = node;
      pending.grads.resize(node->outputs.size());
      Value& at = pending.grads[static_cast<size_t>(value.producer_output())];
      at = Sum(builder_, at, grad);
    }
    const auto leaf = wanted_.find(value.identity());
    if (leaf != wanted_.end()) leaf->second = Sum(builder_, leaf->second, grad);
  }

  void Want(const Value& value) { wanted_.try_emplace(value.identity()); }
  Value Found(const Value& value) const { return wanted_.at(value.identity()); }

  Status Walk() {
    while (!pending_.empty()) {
      const auto last = std::prev(pending_.end());
      const Pending pending = std::move(last->second);
      pending_.erase(last);
      RML_TRY(Step(*pending.node, pending.node, pending.grads));
    }
    return {};
  }

 private:
  struct Pending {
    std::shared_ptr<TapeNode> node;
    Values grads;
  };

  Status Step(TapeNode& node, const std::shared_ptr<TapeNode>& owner,
              std::span<const Value> grads) {
    Flags needs;
    for (const Value& value : node.inputs) {
      needs.push_back(value.defined() && value.requires_grad() && CarriesGradient(value.dtype()));
    }
    Values outputs;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      outputs.push_back(Value(node.outputs[i]));
      // For second derivatives, an output that a rule uses is still what this node made.
      if (options_.create_graph && CarriesGradient(outputs.back().dtype()))
        outputs.back().set_producer(owner, static_cast<int>(i));
    }
    RML_ASSIGN(const Values found, StepGradients(builder_, node.op, node.attributes, node.inputs,
                                                 outputs, grads, needs));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (needs[i]) Arrive(node.inputs[i], found[i]);
    }
    if (!options_.keep_tape && !options_.create_graph) {
      node.inputs.clear();
      node.outputs.clear();
      node.released = true;
    }
    return {};
  }

  Builder& builder_;
  const BackwardOptions& options_;
  std::map<uint64_t, Pending> pending_;  // by the order of the calls
  std::unordered_map<const void*, Value> wanted_;
};

}  // namespace

Expected<Values> TapeBackward(Builder& builder, std::span<const Value> outputs,
                              std::span<const Value> output_grads, std::span<const Value> wanted,
                              const BackwardOptions& options) {
  const GradientModeGuard mode(options.create_graph);
  TapeWalk walk(builder, options);
  try {
    for (const Value& value : wanted) walk.Want(value);
    for (size_t i = 0; i < outputs.size(); ++i) walk.Arrive(outputs[i], output_grads[i]);
    RML_TRY(walk.Walk());
  } catch (const Error& error) {
    return error.status();
  }
  Values result;
  for (const Value& value : wanted) result.push_back(walk.Found(value));
  return result;
}

}  // namespace rml::ir
