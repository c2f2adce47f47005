#include <map>

#include "rml/core/error.h"
#include "rml/ir/backward.h"
#include "rml/ir/graph.h"
#include "rml/ir/graph_json.h"
#include "rml/ir/interpret.h"
#include "rml/ir/tape.h"
#include "rml/ir/trace_builder.h"
#include "rml/ir/verify.h"
#include "rml/ops/check/checks.h"
#include "rml/ops/check/compare.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"

namespace rml::ops {

using core::Expected;
using core::Status;
using core::StrCat;
using core::Tensor;
using ir::Graph;
using ir::Type;
using ir::Value;
using ir::Values;

namespace {

std::vector<Type> TypesOf(std::span<const Tensor> tensors) {
  std::vector<Type> types;
  for (const Tensor& tensor : tensors)
    types.push_back(tensor.defined() ? Type{tensor.dtype(), ir::Dims(tensor.shape())} : Type{});
  return types;
}

Values Given(const OpCase& c) {
  Values given;
  for (const Tensor& tensor : c.inputs) {
    if (tensor.defined()) given.push_back(Value(tensor));
  }
  return given;
}

// The case as a graph whose inputs have these types.
Expected<Graph> TraceCase(const OpCase& c, std::span<const Type> types) {
  Graph graph;
  ir::TraceBuilder trace(graph, BuiltinOps(), core::Cpu());
  Values inputs;
  for (size_t i = 0; i < types.size(); ++i)
    inputs.push_back(c.inputs[i].defined() ? trace.Input(types[i]) : Value());
  RML_ASSIGN(const Values outputs, RunCase(trace, c, inputs));
  for (const Value& value : outputs) graph.AddOutput(value.id());
  RML_TRY(ir::Verify(graph));
  return graph;
}

Status Same(const OpCase& c, std::string_view what, const Values& actual, const Values& expected) {
  if (actual.size() != expected.size())
    return core::Internal(c.ToString(), ", ", what, ": ", actual.size(), " outputs, expected ",
                          expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i].defined() != expected[i].defined())
      return core::Internal(c.ToString(), ", ", what, ": value ", i, " is there in one way only");
    if (!actual[i].defined()) continue;
    const auto difference = Compare(actual[i].tensor(), expected[i].tensor());
    if (!difference.ok()) return difference.status().WithContext(StrCat(c.ToString(), ", ", what));
    if (difference->worst > 0)
      return core::Internal(c.ToString(), ", ", what, ": value ", i, " differs ",
                            difference->where);
  }
  return {};
}

Status RunsLikeEager(const OpCase& c, std::string_view what, const Expected<Graph>& graph) {
  if (!graph.ok()) return graph.status().WithContext(StrCat(c.ToString(), ", ", what));
  const core::RunContext context;
  EagerBuilder eager(context, {&ReferenceProvider()}, BuiltinOps());
  const auto expected = RunCase(eager, c, ValuesOf(c.inputs));
  const auto actual = ir::Interpret(eager, *graph, Given(c));
  if (!expected.ok()) return expected.status().WithContext(c.ToString());
  if (!actual.ok()) return actual.status().WithContext(StrCat(c.ToString(), ", ", what));
  return Same(c, what, *actual, *expected);
}

}  // namespace

Status CheckTrace(const OpCase& c) {
  return RunsLikeEager(c, "traced", TraceCase(c, TypesOf(c.inputs)));
}

Status CheckRoundTrip(const OpCase& c) {
  const auto graph = TraceCase(c, TypesOf(c.inputs));
  if (!graph.ok()) return graph.status().WithContext(c.ToString());
  std::vector<ir::NamedTensor> constants;
  const io::Json written = ir::GraphToJson(*graph, &constants);
  const auto constant = [&](std::string_view name) -> Expected<Tensor> {
    for (const ir::NamedTensor& known : constants) {
      if (known.name == name) return known.tensor;
    }
    return core::NotFound("no constant is called ", name);
  };
  // Through text, as in a file: numbers must survive that too.
  const auto parsed = io::Json::Parse(written.Dump(0));
  if (!parsed.ok()) return parsed.status().WithContext(StrCat(c.ToString(), ", as JSON"));
  return RunsLikeEager(c, "read back", ir::GraphFromJson(*parsed, BuiltinOps(), constant));
}

Status CheckSymbolic(const OpCase& c) {
  // Every axis that may be split may have any size, unless attributes fix it.
  std::vector<Type> types = TypesOf(c.inputs);
  const std::vector<ir::OpCall::Input> known = c.known();
  const auto axes = ir::ResolveAxes(ir::OpCall(*c.op, known, c.attributes));
  if (!axes.ok()) return axes.status().WithContext(c.ToString());
  bool any = false;
  for (const ir::NamedAxis& axis : *axes) {
    if (axis.role == ir::AxisRole::kWhole || AttributesFollow(c, axis)) continue;
    for (size_t i = 0; i < axis.inputs.size(); ++i) {
      if (axis.inputs[i] < 0) continue;
      ir::Dim& dim = types[i].dims[axis.inputs[i]];
      dim = ir::Dim::Symbol(StrCat("size_", axis.name), 0, 4096);
      any = true;
    }
  }
  if (!any) return {};
  return RunsLikeEager(c, "with symbolic dimensions", TraceCase(c, types));
}

Status CheckFused(const OpCase& c) {
  if (c.op->name == "fused") return {};
  for (const Tensor& tensor : c.inputs) {
    if (!tensor.defined()) return {};  // a body's inputs are all there
  }
  auto body = TraceCase(c, TypesOf(c.inputs));
  if (!body.ok()) return body.status().WithContext(c.ToString());
  const core::RunContext context;
  EagerBuilder eager(context, {&ReferenceProvider()}, BuiltinOps());
  const auto expected = RunCase(eager, c, ValuesOf(c.inputs));
  if (!expected.ok()) return expected.status().WithContext(c.ToString());
  try {
    const Emit e(eager);
    const ir::GraphRef graph = std::make_shared<Graph>(*std::move(body));
    const Values actual = e.call("fused", ValuesOf(c.inputs), {{"body", graph}});
    return Same(c, "fused", actual, *expected);
  } catch (const Error& error) {
    return error.status().WithContext(StrCat(c.ToString(), ", fused"));
  }
}

Status CheckTracedGradient(const OpCase& c) {
  bool any = false;
  for (const Tensor& tensor : c.inputs)
    any = any || (tensor.defined() && ir::CarriesGradient(tensor.dtype()));
  if (!any || c.op->no_gradient || !c.sample->smooth) return {};
  const core::RunContext context;
  EagerBuilder eager(context, {&ReferenceProvider()}, BuiltinOps());
  // Eager: a gradient of ones for every floating-point output.
  Values leaves = ValuesOf(c.inputs);
  for (Value& leaf : leaves) {
    if (leaf.defined() && ir::CarriesGradient(leaf.dtype())) leaf.set_requires_grad(true);
  }
  const auto outputs = RunCase(eager, c, leaves);
  if (!outputs.ok()) return outputs.status().WithContext(c.ToString());
  try {
    const Emit e(eager);
    Values seeds, made, wanted;
    for (const Value& value : *outputs) {
      if (!ir::CarriesGradient(value.dtype()) || !value.requires_grad()) continue;
      made.push_back(value);
      seeds.push_back(e.full(1, value.type()));
    }
    for (const Value& leaf : leaves) {
      if (leaf.defined() && ir::CarriesGradient(leaf.dtype())) wanted.push_back(leaf);
    }
    const auto expected = ir::TapeBackward(eager, made, seeds, wanted);
    if (!expected.ok())
      return expected.status().WithContext(StrCat(c.ToString(), ", eager gradient"));

    // Traced: the forward graph, then its gradient appended to it.
    auto forward = TraceCase(c, TypesOf(c.inputs));
    if (!forward.ok()) return forward.status().WithContext(c.ToString());
    const Graph before = *forward;  // the walk reads what it does not append to
    ir::TraceBuilder trace(*forward, BuiltinOps(), core::Cpu());
    const Emit t(trace);
    std::vector<Value> values;
    for (size_t v = 0; v < forward->values().size(); ++v)
      values.push_back(Value(&*forward, static_cast<ir::ValueId>(v)));
    Values graph_seeds;
    const std::vector<ir::ValueId> graph_outputs(forward->outputs().begin(),
                                                 forward->outputs().end());
    for (const ir::ValueId id : graph_outputs) {
      const Type type = forward->value(id).type;
      graph_seeds.push_back(ir::CarriesGradient(type.dtype) ? t.full(1, type) : Value());
    }
    std::vector<ir::ValueId> graph_wanted;
    for (const ir::ValueId id : forward->inputs()) {
      if (ir::CarriesGradient(forward->value(id).type.dtype)) graph_wanted.push_back(id);
    }
    const auto grads = ir::GraphBackward(trace, before, values, graph_seeds, graph_wanted);
    if (!grads.ok()) return grads.status().WithContext(StrCat(c.ToString(), ", traced gradient"));
    std::vector<ir::ValueId> returned;
    for (const Value& grad : *grads) {
      if (grad.defined()) returned.push_back(grad.id());
    }
    forward->set_outputs(returned);
    if (const Status status = ir::Verify(*forward); !status.ok())
      return status.WithContext(StrCat(c.ToString(), ", traced gradient"));
    const auto found = ir::Interpret(eager, *forward, Given(c));
    if (!found.ok()) return found.status().WithContext(StrCat(c.ToString(), ", traced gradient"));
    Values there;
    for (size_t i = 0; i < expected->size(); ++i) {
      if ((*grads)[i].defined() != (*expected)[i].defined())
        return core::Internal(c.ToString(), ": gradient ", i, " is there in one way only");
      if ((*expected)[i].defined()) there.push_back((*expected)[i]);
    }
    return Same(c, "gradient by trace against eager", *found, there);
  } catch (const Error& error) {
    return error.status().WithContext(StrCat(c.ToString(), ", gradient"));
  }
}

Status CheckDevice(const OpCase& c, core::Device& device) {
  const auto expected = RunReferenceCase(c);
  if (!expected.ok()) return expected.status().WithContext(c.ToString());
  const core::RunContext context = {.allocator = &device};
  EagerBuilder eager(context, {&ReferenceProvider()}, BuiltinOps());
  Values inputs;
  for (const Tensor& tensor : c.inputs) {
    if (!tensor.defined()) {
      inputs.push_back(Value());
      continue;
    }
    RML_ASSIGN(Tensor there, tensor.Copy(device));
    inputs.push_back(Value(std::move(there)));
  }
  const auto actual = RunCase(eager, c, inputs);
  if (!actual.ok())
    return actual.status().WithContext(StrCat(c.ToString(), ", on ", device.name()));
  for (size_t i = 0; i < actual->size(); ++i) {
    if (&(*actual)[i].tensor().device() != &device)
      return core::Internal(c.ToString(), ": output ", i, " left ", device.name());
    RML_ASSIGN(const Tensor here, (*actual)[i].tensor().Copy(core::Cpu()));
    RML_ASSIGN(const Difference difference, Compare(here, (*expected)[i].tensor()));
    if (difference.worst > 0)
      return core::Internal(c.ToString(), ", on ", device.name(), ": output ", i, " differs ",
                            difference.where);
  }
  return {};
}

}  // namespace rml::ops
