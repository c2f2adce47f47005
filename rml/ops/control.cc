#include "rml/ops/control.h"

#include "rml/core/check.h"
#include "rml/core/error.h"
#include "rml/ir/interpret.h"
#include "rml/ir/trace_builder.h"
#include "rml/ops/expr.h"
#include "rml/ops/registry.h"

namespace rml::ops {

using core::Expected;
using core::Status;
using core::StrCat;
using ir::Dims;
using ir::Graph;
using ir::Sample;
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

namespace {

// A graph of inputs of these types, made by `body`.
template <typename Body>
ir::GraphRef MakeGraph(std::span<const Type> inputs, Body&& body) {
  auto graph = std::make_shared<Graph>();
  ir::TraceBuilder trace(*graph, BuiltinOps(), core::Cpu());
  ir::Values values;
  for (const Type& type : inputs) values.push_back(trace.Input(type));
  const Emit e(trace);
  for (const Value& value : body(e, values)) graph->AddOutput(value.id());
  return graph;
}

}  // namespace

namespace {

// Newton's square roots of x, a number of steps: state (step, x, root).
void AddWhileSamples(core::DType dtype, std::vector<Sample>* samples) {
  const Type state[] = {{core::DType::kI64, {}}, {dtype, {3}}, {dtype, {3}}};
  const ir::GraphRef condition =
      MakeGraph(state, [](const Emit& e, const ir::Values& v) -> ir::Values {
        return {e.one("less", {v[0], e.scalar(4, core::DType::kI64)})};
      });
  const ir::GraphRef body = MakeGraph(state, [](const Emit& e, const ir::Values& v) -> ir::Values {
    return {e.add(v[0], 1), e.mul(v[1], 1), e.mul(e.add(v[2], e.div(v[1], v[2])), 0.5)};
  });
  for (const double first : {0.0, 3.0, 9.0}) {
    Sample& sample = samples->emplace_back();
    sample.inputs = {{{}, ir::Fill::Values({first}), core::DType::kI64},
                     {{3}, ir::Fill::Values({2, 9, 0.25}), dtype},
                     {{3}, ir::Fill::Values({1}), dtype}};
    sample.attributes = {{"condition", condition}, {"body", body}};
    sample.smooth = false;  // it has no gradient
  }
}

// A GEMM with an epilogue; two outputs, of which one is used inside as well, with symbolic
// dimensions.
void AddFusedSamples(core::DType dtype, std::vector<Sample>* samples) {
  const Type inputs[] = {{dtype, {2, 5}}, {dtype, {5, 3}}, {dtype, {3}}};
  const ir::GraphRef epilogue =
      MakeGraph(inputs, [](const Emit& e, const ir::Values& v) -> ir::Values {
        return {e.one("tanh", {e.add(e.matmul(v[0], v[1]), v[2])})};
      });
  const ir::Dim rows = ir::Dim::Symbol("rows", 0, 1024);
  const Type symbolic[] = {{dtype, {rows, 4}}, {dtype, {4}}};
  const ir::GraphRef two =
      MakeGraph(symbolic, [](const Emit& e, const ir::Values& v) -> ir::Values {
        const Value scaled = e.mul(v[0], v[1]);
        return {e.exp(scaled), e.sum(scaled, {1})};
      });
  const auto input = [&](core::Shape shape) {
    return ir::SampleInput(shape, ir::Fill::Normal(), dtype);
  };
  samples->push_back({{input({2, 5}), input({5, 3}), input({3})}, {{"body", epilogue}}});
  samples->push_back({{input({3, 4}), input({4})}, {{"body", two}}});
  samples->push_back({{input({0, 4}), input({4})}, {{"body", two}}});
}

}  // namespace

std::vector<Sample> WhileSamples() {
  std::vector<Sample> samples;
  for (const core::DType dtype : {core::DType::kF32, core::DType::kF64})
    AddWhileSamples(dtype, &samples);
  return samples;
}

std::vector<Sample> FusedSamples() {
  std::vector<Sample> samples;
  for (const core::DType dtype : {core::DType::kF32, core::DType::kF64})
    AddFusedSamples(dtype, &samples);
  return samples;
}

}  // namespace rml::ops
