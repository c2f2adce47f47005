#include "rml/ops/graph_samples.h"

#include "rml/ir/graph.h"
#include "rml/ir/trace_builder.h"
#include "rml/ops/expr.h"
#include "rml/ops/registry.h"

namespace rml::ops {

using core::DType;
using ir::Fill;
using ir::Ints;
using ir::Sample;
using ir::Type;
using ir::Values;

namespace {

template <typename Body>
ir::GraphRef GraphOfBody(std::span<const Type> inputs, Body&& body) {
  auto graph = std::make_shared<ir::Graph>();
  ir::TraceBuilder trace(*graph, BuiltinOps(), core::Cpu());
  Values values;
  for (const Type& type : inputs) values.push_back(trace.Input(type));
  const Emit e(trace);
  for (const ir::Value& value : body(e, values)) graph->AddOutput(value.id());
  return graph;
}

void AddScanSamples(DType dtype, std::vector<Sample>* samples) {
  const auto input = [&](core::Shape shape) {
    return ir::SampleInput(shape, Fill::Normal(), dtype);
  };
  // State h, element x, constant w: h' = tanh(h · w + x) and y = h' · x.
  const Type cell[] = {{dtype, {3}}, {dtype, {3}}, {dtype, {3}}};
  const ir::GraphRef step = GraphOfBody(cell, [](const Emit& e, const Values& v) -> Values {
    const ir::Value h = e.one("tanh", {e.add(e.mul(v[0], v[2]), v[1])});
    return {h, e.mul(h, v[1])};
  });
  for (const bool reverse : {false, true}) {
    samples->push_back({{input({3}), input({4, 3}), input({3})},
                        {{"body", step}, {"carries", 1}, {"xs", 1}, {"reverse", reverse}}});
  }
  samples->push_back(
      {{input({3}), input({1, 3}), input({3})}, {{"body", step}, {"carries", 1}, {"xs", 1}}});
  // Along other axes and from other ends.
  const auto along = [&](Ints x_axis, Ints x_direction, Ints y_axis, Ints y_direction) {
    samples->push_back({{input({3}), input({3, 4}), input({3})},
                        {{"body", step},
                         {"carries", 1},
                         {"xs", 1},
                         {"scan_input_axes", std::move(x_axis)},
                         {"scan_input_directions", std::move(x_direction)},
                         {"scan_output_axes", std::move(y_axis)},
                         {"scan_output_directions", std::move(y_direction)}}});
  };
  along({1}, {1}, {-1}, {});
  along({-1}, {}, {0}, {1});
  // Of no steps the decomposition has no gradient at all, and the rule has zeros.
  samples->push_back({{input({3}), input({0, 3}), input({3})},
                      {{"body", step}, {"carries", 1}, {"xs", 1}},
                      false});
  // Without elements; the counter has no gradient, and scales what is carried.
  const Type counted[] = {{DType::kI64, {}}, {dtype, {2}}};
  const ir::GraphRef count = GraphOfBody(counted, [&](const Emit& e, const Values& v) -> Values {
    const ir::Value next = e.add(v[0], 1);
    return {next, e.mul(v[1], e.cast(next, dtype)), v[0]};
  });
  samples->push_back({{{{}, Fill::Values({0}), DType::kI64}, input({2})},
                      {{"body", count}, {"carries", 2}, {"length", ir::Dims{3}}}});
  // A map: no state at all; a size that each call binds.
  const ir::Dim width = ir::Dim::Symbol("width", 0, 1024);
  const Type mapped[] = {{dtype, {width}}, {dtype, {}}};
  const ir::GraphRef map = GraphOfBody(mapped, [](const Emit& e, const Values& v) -> Values {
    return {e.exp(e.mul(v[0], v[1])), e.sum(v[0], {})};
  });
  samples->push_back({{input({3, 5}), input({})}, {{"body", map}, {"xs", 1}}});
}

void AddIfSamples(DType dtype, std::vector<Sample>* samples) {
  const Type types[] = {{dtype, {3}}, {dtype, {3}}};
  // Only one of them uses b.
  const ir::GraphRef product = GraphOfBody(types, [](const Emit& e, const Values& v) -> Values {
    return {e.mul(v[0], v[1]), e.sum(v[0], {})};
  });
  const ir::GraphRef power = GraphOfBody(types, [](const Emit& e, const Values& v) -> Values {
    return {e.exp(v[0]), e.sum(e.mul(v[0], v[0]), {})};
  });
  for (const double condition : {0.0, 1.0}) {
    samples->push_back({{{{}, Fill::Values({condition}), DType::kBool},
                         {{3}, Fill::Normal(), dtype},
                         {{3}, Fill::Normal(), dtype}},
                        {{"then", product}, {"else", power}}});
  }
}

// Newton's square roots of x, a number of steps: state (step, x, root).
void AddWhileSamples(DType dtype, std::vector<Sample>* samples) {
  const Type state[] = {{DType::kI64, {}}, {dtype, {3}}, {dtype, {3}}};
  const ir::GraphRef condition = GraphOfBody(state, [](const Emit& e, const Values& v) -> Values {
    return {e.one("less", {v[0], e.scalar(4, DType::kI64)})};
  });
  const ir::GraphRef body = GraphOfBody(state, [](const Emit& e, const Values& v) -> Values {
    return {e.add(v[0], 1), e.mul(v[1], 1), e.mul(e.add(v[2], e.div(v[1], v[2])), 0.5)};
  });
  for (const double first : {0.0, 3.0, 9.0}) {
    Sample& sample = samples->emplace_back();
    sample.inputs = {{{}, Fill::Values({first}), DType::kI64},
                     {{3}, Fill::Values({2, 9, 0.25}), dtype},
                     {{3}, Fill::Values({1}), dtype}};
    sample.attributes = {{"condition", condition}, {"body", body}};
    sample.smooth = false;  // it has no gradient
  }
}

// A GEMM with an epilogue; two outputs, of which one is used inside as well, with symbolic
// dimensions.
void AddFusedSamples(DType dtype, std::vector<Sample>* samples) {
  const Type inputs[] = {{dtype, {2, 5}}, {dtype, {5, 3}}, {dtype, {3}}};
  const ir::GraphRef epilogue = GraphOfBody(inputs, [](const Emit& e, const Values& v) -> Values {
    return {e.one("tanh", {e.add(e.matmul(v[0], v[1]), v[2])})};
  });
  const ir::Dim rows = ir::Dim::Symbol("rows", 0, 1024);
  const Type symbolic[] = {{dtype, {rows, 4}}, {dtype, {4}}};
  const ir::GraphRef two = GraphOfBody(symbolic, [](const Emit& e, const Values& v) -> Values {
    const ir::Value scaled = e.mul(v[0], v[1]);
    return {e.exp(scaled), e.sum(scaled, {1})};
  });
  const auto input = [&](core::Shape shape) {
    return ir::SampleInput(shape, Fill::Normal(), dtype);
  };
  samples->push_back({{input({2, 5}), input({5, 3}), input({3})}, {{"body", epilogue}}});
  samples->push_back({{input({3, 4}), input({4})}, {{"body", two}}});
  samples->push_back({{input({0, 4}), input({4})}, {{"body", two}}});
}

}  // namespace

std::vector<Sample> ScanLoopSamples() {
  std::vector<Sample> samples;
  for (const DType dtype : {DType::kF32, DType::kF64}) AddScanSamples(dtype, &samples);
  return samples;
}

std::vector<Sample> IfSamples() {
  std::vector<Sample> samples;
  for (const DType dtype : {DType::kF32, DType::kF64}) AddIfSamples(dtype, &samples);
  return samples;
}

std::vector<Sample> WhileSamples() {
  std::vector<Sample> samples;
  for (const DType dtype : {DType::kF32, DType::kF64}) AddWhileSamples(dtype, &samples);
  return samples;
}

std::vector<Sample> FusedSamples() {
  std::vector<Sample> samples;
  for (const DType dtype : {DType::kF32, DType::kF64}) AddFusedSamples(dtype, &samples);
  return samples;
}

}  // namespace rml::ops
