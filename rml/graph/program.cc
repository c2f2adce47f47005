#include "rml/graph/program.h"

#include <algorithm>
#include <deque>

#include "rml/core/check.h"
#include "rml/graph/buffer_layout.h"
#include "rml/ir/interpret.h"
#include "rml/ir/trace_builder.h"

namespace rml::graph {

using core::Expected;
using core::Status;
using core::StrCat;
using core::Tensor;
using ir::Graph;
using ir::GraphValue;
using ir::kNoValue;
using ir::Node;
using ir::NodeId;
using ir::OpCall;
using ir::ValueId;
using ir::ValueKind;

Expected<Graph> Specialize(const Graph& graph, std::span<const ir::Type> inputs,
                           const ir::OpSource& operators) {
  Graph made;
  ir::TraceBuilder trace(made, operators, core::Cpu());
  if (inputs.size() != graph.inputs().size()) {
    return core::InvalidArgument(inputs.size(), " inputs are given, and the graph has ",
                                 graph.inputs().size());
  }
  std::vector<ir::Value> given, parameters, states;
  for (size_t i = 0; i < inputs.size(); ++i)
    given.push_back(trace.Input(inputs[i], graph.value(graph.inputs()[i]).name));
  for (const ValueId id : graph.parameters())
    parameters.push_back(trace.Parameter(graph.value(id).type, graph.value(id).name));
  for (const ValueId id : graph.states())
    states.push_back(trace.State(graph.value(id).type, graph.value(id).name));
  RML_ASSIGN(const std::vector<ir::Value> values,
             ir::InterpretAll(trace, graph,
                              {.inputs = given, .parameters = parameters, .states = states}));
  for (const ValueId id : graph.outputs()) made.AddOutput(values[static_cast<size_t>(id)].id());
  for (const ir::StateUpdate& update : graph.updates()) {
    made.AddUpdate(values[static_cast<size_t>(update.state)].id(),
                   values[static_cast<size_t>(update.value)].id());
  }
  return made;
}

struct Program::Impl {
  // One prepared call. Everything that its KernelArgs point to lives here, and never moves.
  struct Step {
    const ops::Kernel* kernel = nullptr;
    NodeId node = 0;
    std::vector<OpCall::Input> known;
    std::unique_ptr<OpCall> call;
    std::shared_ptr<const ops::Prepared> prepared;
    std::vector<const Tensor*> inputs;
    std::vector<Tensor> outputs;
    std::vector<core::Shape> extents;
    // Aliased outputs that have a place of their own: their input is copied there first.
    std::vector<std::pair<const Tensor*, const Tensor*>> copies;
    ops::KernelArgs args;
  };

  Impl(const Graph& source, const core::RunContext& run_context)
      : graph(source), context(run_context) {}

  const Graph graph;
  const core::RunContext& context;
  std::vector<Tensor>
      values;  // by ValueId; arguments are bound here, results are views of `buffer`
  std::deque<Step> steps;
  std::shared_ptr<core::Buffer> buffer;
  std::shared_ptr<core::Buffer> workspace;
  int64_t buffer_bytes = 0;
  int64_t workspace_bytes = 0;

  Status PlaceValues();
  Status PrepareStep(NodeId id, const ops::ProviderList& providers);
  Status BindAll(std::span<const ValueId> ids, std::span<const Tensor> given,
                 std::string_view kind);
};

// A result in place of the input that it updates, where that dies there; else a place of its own.
Status Program::Impl::PlaceValues() {
  const auto count = graph.values().size();
  const auto steps_count = static_cast<int>(graph.nodes().size());
  std::vector<int> last(count, -1);
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    for (const ValueId id : graph.nodes()[n].inputs) {
      if (id != kNoValue) last[static_cast<size_t>(id)] = static_cast<int>(n);
    }
  }
  // What the caller sees lives to the end.
  for (const ValueId id : graph.outputs()) last[static_cast<size_t>(id)] = steps_count;
  for (const ir::StateUpdate& update : graph.updates())
    last[static_cast<size_t>(update.value)] = steps_count;

  std::vector<ValueId> owner(count, kNoValue);  // whose place a result has
  std::vector<Lifetime> lifetimes;
  std::vector<int> slot(count, -1);
  for (size_t v = 0; v < count; ++v) {
    const GraphValue& value = graph.values()[v];
    if (value.kind == ValueKind::kConstant) values[v] = value.constant;
    if (value.kind != ValueKind::kResult) continue;
    if (!value.type.dims.is_static()) {
      return core::Unsupported(
          graph.NameOf(static_cast<ValueId>(v)), " is ", value.type.ToString(),
          ": a program needs sizes that are known; specialise the graph, or interpret it");
    }
    const Node& node = graph.node(value.producer);
    ValueId shares = kNoValue;
    for (const ir::Alias& alias : node.op->aliases) {
      const ValueId input = node.input(alias.in);
      if (alias.out != value.output || input == kNoValue) continue;
      const bool dies = graph.value(input).kind == ValueKind::kResult &&
                        last[static_cast<size_t>(input)] == value.producer &&
                        std::ranges::count(node.inputs, input) == 1;
      if (dies) shares = owner[static_cast<size_t>(input)];
    }
    owner[v] = shares != kNoValue ? shares : static_cast<ValueId>(v);
    const int end = std::max(last[v], value.producer);
    if (shares != kNoValue) {
      slot[v] = slot[static_cast<size_t>(shares)];
      Lifetime& lifetime = lifetimes[static_cast<size_t>(slot[v])];
      lifetime.last = std::max(lifetime.last, end);
      continue;
    }
    RML_ASSIGN(const int64_t bytes, Tensor::BytesFor(value.type.dtype, value.type.dims.shape()));
    slot[v] = static_cast<int>(lifetimes.size());
    lifetimes.push_back({bytes, value.producer, end});
  }
  const BufferLayout layout = LayOut(lifetimes);
  buffer_bytes = layout.bytes;
  RML_ASSIGN(buffer,
             core::Buffer::Allocate(context.GetAllocator(), std::max<int64_t>(layout.bytes, 1)));
  for (size_t v = 0; v < count; ++v) {
    if (slot[v] < 0) continue;
    const ir::Type& type = graph.values()[v].type;
    RML_ASSIGN(values[v], Tensor::Over(buffer, type.dtype, type.dims.shape(),
                                       layout.offsets[static_cast<size_t>(slot[v])]));
  }
  return {};
}

Status Program::Impl::PrepareStep(NodeId id, const ops::ProviderList& providers) {
  const Node& node = graph.node(id);
  Step& step = steps.emplace_back();
  step.node = id;
  for (const ValueId input : node.inputs) {
    if (input == kNoValue) {
      step.known.push_back({.type = {}, .given = false});
      step.inputs.push_back(nullptr);
      continue;
    }
    const GraphValue& value = graph.value(input);
    if (!value.type.dims.is_static())
      return core::Unsupported(
          graph.NameOf(input), " is ", value.type.ToString(),
          ": a program needs sizes that are known; specialise the graph, or interpret it");
    step.known.push_back(
        {.type = value.type,
         .constant = value.kind == ValueKind::kConstant ? &value.constant : nullptr});
    step.inputs.push_back(&values[static_cast<size_t>(input)]);
  }
  step.call = std::make_unique<OpCall>(*node.op, step.known, node.attributes);
  RML_ASSIGN(const ops::Choice choice,
             ops::ChooseKernel(providers, *step.call, context.GetAllocator().device()));
  step.kernel = choice.kernel;
  if (step.kernel->prepare != nullptr) {
    RML_ASSIGN(step.prepared, step.kernel->prepare(*step.call, context));
  }
  for (const ValueId output : node.outputs) {
    step.outputs.push_back(values[static_cast<size_t>(output)]);
    step.extents.push_back(step.outputs.back().shape());
  }
  for (const ir::Alias& alias : node.op->aliases) {
    if (node.input(alias.in) == kNoValue) continue;
    const Tensor* const from = step.inputs[static_cast<size_t>(alias.in)];
    const Tensor& to = step.outputs[static_cast<size_t>(alias.out)];
    const bool same =
        from->defined() && from->buffer() == to.buffer() && from->byte_offset() == to.byte_offset();
    if (!same) step.copies.emplace_back(from, &to);
  }
  step.args.call = step.call.get();
  step.args.inputs = step.inputs;
  step.args.outputs = step.outputs;
  step.args.prepared = step.prepared.get();
  step.args.context = &context;
  step.args.extents = step.extents;
  if (step.kernel->workspace != nullptr) {
    workspace_bytes =
        std::max(workspace_bytes, step.kernel->workspace(*step.call, step.prepared.get(), context));
  }
  return {};
}

Status Program::Impl::BindAll(std::span<const ValueId> ids, std::span<const Tensor> given,
                              std::string_view kind) {
  if (ids.size() != given.size())
    return core::InvalidArgument(given.size(), " ", kind, "s are given, and the graph has ",
                                 ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const GraphValue& value = graph.value(ids[i]);
    const ir::Type type = {given[i].dtype(), ir::Dims(given[i].shape())};
    if (!(type == value.type)) {
      return core::InvalidArgument(kind, " ", graph.NameOf(ids[i]), ": expected ",
                                   value.type.ToString(), ", got ", type.ToString());
    }
    if (&given[i].device() != &context.GetAllocator().device()) {
      return core::InvalidArgument(kind, " ", graph.NameOf(ids[i]), " is on ",
                                   given[i].device().name());
    }
    values[static_cast<size_t>(ids[i])] = given[i];
  }
  return {};
}

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::~Program() = default;

Expected<std::unique_ptr<Program>> Program::Prepare(const Graph& graph,
                                                    const ops::ProviderList& providers,
                                                    const core::RunContext& context) {
  auto impl = std::make_unique<Impl>(graph, context);
  impl->values.resize(graph.values().size());
  RML_TRY(impl->PlaceValues());
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Status status = impl->PrepareStep(static_cast<NodeId>(n), providers);
    if (!status.ok()) return status.WithContext(graph.Describe(static_cast<NodeId>(n)));
  }
  if (impl->workspace_bytes > 0) {
    RML_ASSIGN(impl->workspace, core::Buffer::Allocate(core::Cpu(), impl->workspace_bytes));
    RML_ASSIGN(const std::span<std::byte> memory, impl->workspace->MutableHostView());
    for (Impl::Step& step : impl->steps) step.args.workspace = memory;
  }
  return std::unique_ptr<Program>(new Program(std::move(impl)));
}

Status Program::RunBound() noexcept {
  for (Impl::Step& step : impl_->steps) {
    for (const auto& [from, to] : step.copies) RML_TRY(from->CopyTo(*to));
    Status status = step.kernel->run(step.args);
    if (!status.ok()) return status.WithContext(impl_->graph.Describe(step.node));
  }
  return {};
}

Expected<Program::Results> Program::Run(const Arguments& arguments) {
  Impl& impl = *impl_;
  RML_TRY(impl.BindAll(impl.graph.inputs(), arguments.inputs, "input"));
  RML_TRY(impl.BindAll(impl.graph.parameters(), arguments.parameters, "parameter"));
  RML_TRY(impl.BindAll(impl.graph.states(), arguments.states, "state"));
  RML_TRY(RunBound());
  Results results;
  for (const ValueId id : impl.graph.outputs())
    results.outputs.push_back(impl.values[static_cast<size_t>(id)]);
  for (const ValueId id : impl.graph.states()) {
    ValueId next = id;
    for (const ir::StateUpdate& update : impl.graph.updates()) {
      if (update.state == id) next = update.value;
    }
    results.states.push_back(impl.values[static_cast<size_t>(next)]);
  }
  return results;
}

int64_t Program::buffer_bytes() const { return impl_->buffer_bytes; }
int64_t Program::workspace_bytes() const { return impl_->workspace_bytes; }
int Program::calls() const { return static_cast<int>(impl_->steps.size()); }

}  // namespace rml::graph
