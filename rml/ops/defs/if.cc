// One of two graphs.
#include "rml/core/error.h"
#include "rml/ir/backward.h"
#include "rml/ir/graph.h"
#include "rml/ir/interpret.h"
#include "rml/ir/trace_builder.h"
#include "rml/ops/control.h"
#include "rml/ops/elementwise.h"
#include "rml/ops/graph_samples.h"
#include "rml/ops/registry.h"

namespace rml::ops {
namespace {

using ir::Type;
using ir::Types;
using ir::Value;
using ir::Values;

core::Status InferIf(const ir::OpCall& call, Types* outputs) {
  RML_ASSIGN(const ir::Graph* const then, GraphOf(call, "then"));
  RML_ASSIGN(const ir::Graph* const otherwise, GraphOf(call, "else"));
  if (call.rank(0) != 0)
    return core::InvalidArgument("condition has ", call.rank(0), " dimensions, expected 0");
  Types inputs;
  for (int i = 1; i < call.inputs(); ++i) inputs.push_back(call.input(i));
  RML_TRY(InferThrough(*then, "then", inputs, outputs));
  return CheckSignature(*otherwise, "else", inputs, *outputs);
}

// The graph that is chosen; both where only the run can choose.
Values DecomposeIf(ir::ExprCall& call) {
  const Emit e(call.b());
  const std::span<const Value> inputs = call.all_inputs().subspan(1);
  const auto run = [&](std::string_view name) {
    return OrThrow(ir::Interpret(call.b(), *call.call().attr<ir::GraphRef>(name), inputs));
  };
  if (call.in(0).concrete()) {
    const auto condition = OrThrow(call.in(0).tensor().HostData<uint8_t>());
    return run(condition[0] != 0 ? "then" : "else");
  }
  const Values then = run("then");
  const Values otherwise = run("else");
  Values outputs;
  for (size_t i = 0; i < then.size(); ++i)
    outputs.push_back(e.where(call.in(0), then[i], otherwise[i]));
  return outputs;
}

// A graph from the inputs and the output gradients that there are to the gradients of `wanted`.
ir::GraphRef GradientGraph(const ir::ExprCall& call, std::string_view name,
                           std::span<const int> wanted) {
  const ir::Graph& branch = *call.call().attr<ir::GraphRef>(name);
  auto graph = std::make_shared<ir::Graph>();
  ir::TraceBuilder trace(*graph, BuiltinOps(), call.b().allocator());
  const Emit t(trace);
  Values inputs;
  for (const Value& value : call.all_inputs().subspan(1))
    inputs.push_back(trace.Input(value.type()));
  Values grads;
  for (const Value& grad : call.all_grads())
    grads.push_back(grad.defined() ? trace.Input(grad.type()) : Value());
  const auto values = OrThrow(ir::InterpretAll(trace, branch, {.inputs = inputs}));
  std::vector<ir::ValueId> ids;
  for (const int i : wanted) ids.push_back(branch.inputs()[static_cast<size_t>(i - 1)]);
  const Values found = OrThrow(ir::GraphBackward(trace, branch, values, grads, ids));
  for (size_t k = 0; k < wanted.size(); ++k) {
    const Value zero = found[k].defined() ? found[k] : t.full(0, call.in(wanted[k]).type());
    graph->AddOutput(zero.id());
  }
  return graph;
}

Values VjpIf(ir::ExprCall& call) {
  const Emit e(call.b());
  std::vector<int> wanted;
  for (int i = 1; i < call.inputs(); ++i) {
    if (call.needs(i)) wanted.push_back(i);
  }
  Values inputs(call.all_inputs());
  for (const Value& grad : call.all_grads()) {
    if (grad.defined()) inputs.push_back(grad);
  }
  const Values found = e.call("if", std::span(inputs.begin(), inputs.size()),
                              {{"then", GradientGraph(call, "then", wanted)},
                               {"else", GradientGraph(call, "else", wanted)}});
  Values grads(static_cast<size_t>(call.inputs()));
  for (size_t k = 0; k < wanted.size(); ++k) grads[static_cast<size_t>(wanted[k])] = found[k];
  return grads;
}

}  // namespace

ir::OpDef If() {
  ir::OpDef op;
  op.name = "if";
  op.doc =
      "`then(inputs…)` where `condition` is true, else `else(inputs…)`: graphs whose outputs have "
      "equal types. Only the chosen one runs.";
  op.inputs = {{"condition", "bool"}, {"inputs", "*", ir::Arity::kMany}};
  op.outputs = {{"outputs", "*", ir::OutputKind::kResult, ir::Arity::kMany}};
  op.types = {};
  op.attributes = {{"then", ir::RequiredAttr{ir::GraphRef()}},
                   {"else", ir::RequiredAttr{ir::GraphRef()}}};
  op.infer = InferIf;
  op.decompose = DecomposeIf;
  op.vjp = VjpIf;
  op.samples = [] { return IfSamples(); };
  return op;
}

}  // namespace rml::ops
