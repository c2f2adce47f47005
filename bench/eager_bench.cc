// What calling an operator costs beside its kernel: eager calls, through registry, inference,
// dispatch and allocation. The kernel alone is the figure to subtract.
#include <benchmark/benchmark.h>

#include "rml/graph/program.h"
#include "rml/ir/trace_builder.h"
#include "rml/ir/verify.h"
#include "rml/ops/eager.h"
#include "rml/ops/expr.h"
#include "rml/ops/registry.h"
#include "rml/providers/all/all_providers.h"
#include "rml/providers/cpu/provider.h"

namespace rml {
namespace {

core::Tensor Ones(const core::Shape& shape) {
  const std::vector<float> values(static_cast<size_t>(shape.elements()), 1.0f);
  return *core::Tensor::FromHost<float>(shape, values, core::Cpu());
}

void EagerAdd(benchmark::State& state) {
  const core::RunContext context;
  ops::EagerBuilder eager(context, providers::AllProviders(), ops::BuiltinOps());
  const ir::OpDef& add = **ops::BuiltinOps().Find("add");
  const ir::Value inputs[] = {ir::Value(Ones({16})), ir::Value(Ones({16}))};
  for (auto _ : state) benchmark::DoNotOptimize(eager.Call(add, inputs, {}));
}
BENCHMARK(EagerAdd);

void EagerAddWithGradient(benchmark::State& state) {
  const core::RunContext context;
  ops::EagerBuilder eager(context, providers::AllProviders(), ops::BuiltinOps());
  const ir::OpDef& add = **ops::BuiltinOps().Find("add");
  ir::Value inputs[] = {ir::Value(Ones({16})), ir::Value(Ones({16}))};
  inputs[0].set_requires_grad(true);
  for (auto _ : state) benchmark::DoNotOptimize(eager.Call(add, inputs, {}));
}
BENCHMARK(EagerAddWithGradient);

void KernelAdd(benchmark::State& state) {
  const core::RunContext context;
  const ir::OpDef& add = **ops::BuiltinOps().Find("add");
  const core::Tensor a = Ones({16});
  const core::Tensor b = Ones({16});
  const core::Tensor* const inputs[] = {&a, &b};
  core::Tensor outputs[] = {Ones({16})};
  core::Shape extents[] = {{16}};
  const ir::OpCall::Input known[] = {{.type = {core::DType::kF32, {16}}},
                                     {.type = {core::DType::kF32, {16}}}};
  const ir::Attributes attributes;
  const ir::OpCall call(add, known, attributes);
  const ops::Kernel& kernel = providers::cpu::CpuProvider().Kernels("add")[0];
  const ops::KernelArgs args = {
      .call = &call, .inputs = inputs, .outputs = outputs, .context = &context, .extents = extents};
  for (auto _ : state) benchmark::DoNotOptimize(kernel.run(args));
}
BENCHMARK(KernelAdd);

// A chain of adds in a program: the time of one node, kernel included.
void PreparedAdd(benchmark::State& state) {
  constexpr int kNodes = 100;
  const core::RunContext context;
  ir::Graph graph;
  ir::TraceBuilder trace(graph, ops::BuiltinOps(), core::Cpu());
  const ops::Emit e(trace);
  const ir::Type type = {core::DType::kF32, {16}};
  const ir::Value x = trace.Input(type);
  ir::Value y = x;
  for (int i = 0; i < kNodes; ++i) y = e.add(y, x);
  graph.AddOutput(y.id());
  const auto program = *graph::Program::Prepare(graph, providers::AllProviders(), context);
  const core::Tensor input = Ones({16});
  benchmark::DoNotOptimize(program->Run({.inputs = std::span(&input, 1)}));
  for (auto _ : state) benchmark::DoNotOptimize(program->RunBound());
  state.SetItemsProcessed(state.iterations() * kNodes);
}
BENCHMARK(PreparedAdd);

// Tracing and verifying a long graph.
void TraceAndVerify(benchmark::State& state) {
  constexpr int kNodes = 100'000;
  for (auto _ : state) {
    ir::Graph graph;
    ir::TraceBuilder trace(graph, ops::BuiltinOps(), core::Cpu());
    const ops::Emit e(trace);
    ir::Value y = trace.Input({core::DType::kF32, {16}});
    for (int i = 0; i < kNodes; ++i) y = e.add(y, y);
    graph.AddOutput(y.id());
    benchmark::DoNotOptimize(ir::Verify(graph).ok());
  }
}
BENCHMARK(TraceAndVerify)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rml
