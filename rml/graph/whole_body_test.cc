#include "rml/graph/whole_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/graph/program.h"
#include "rml/ir/trace_builder.h"
#include "rml/ir/verify.h"
#include "rml/ops/check/compare.h"
#include "rml/ops/check/conformance.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"
#include "rml/ops/registry.h"
#include "rml/ops/testing/body_provider.h"

namespace rml::graph {
namespace {

using core::Tensor;
using ir::Value;
using ops::testing::BodyProvider;
using ::testing::HasSubstr;

Tensor Ramp(const core::Shape& shape, float step) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = step * static_cast<float>(i) - 1;
  return *Tensor::FromHost<float>(shape, values, core::Cpu());
}

ir::Type Matrix(int64_t rows, int64_t columns) { return {core::DType::kF32, {rows, columns}}; }

// One step of a layer with a running mean: an input, parameters, a state, a constant.
ir::Graph Layer() {
  ir::Graph graph;
  ir::TraceBuilder trace(graph, ops::BuiltinOps(), core::Cpu());
  const ops::Emit e(trace);
  const Value x = trace.Input(Matrix(4, 3), "x");
  const Value w = trace.Parameter(Matrix(3, 5), "w");
  const Value mean = trace.State({core::DType::kF32, {5}}, "mean");
  const Value y = e.one("tanh", {e.matmul(x, w)});
  const Value next = e.add(e.mul(mean, 0.75), e.mul(e.mean(y, {0}), 0.25));
  const Value ramp = *trace.Constant(Ramp({5}, 0.5f));
  graph.AddOutput(e.add(y, ramp).id());
  graph.AddOutput(e.sub(y, next).id());
  graph.AddUpdate(mean.id(), next.id());
  return graph;
}

struct Step {
  Tensor x = Ramp({4, 3}, 0.125f);
  Tensor w = Ramp({3, 5}, 0.25f);
  Tensor mean = Ramp({5}, 1);

  // The same values in the memory of `device`.
  Step On(core::Device& device) const {
    return {*x.Copy(device), *w.Copy(device), *mean.Copy(device)};
  }
  core::Expected<Program::Results> Run(Program& program) const {
    return program.Run({.inputs = {&x, 1}, .parameters = {&w, 1}, .states = {&mean, 1}});
  }
};

TEST(WholeBody, AProviderTakesAWholeGraphAndKeepsItsMemory) {
  const ir::Graph graph = Layer();
  const core::RunContext host;
  const auto plain = Program::Prepare(graph, {&ops::ReferenceProvider()}, host);
  ASSERT_TRUE(plain.ok());
  const auto expected = Step().Run(**plain);
  ASSERT_TRUE(expected.ok());

  BodyProvider bodies;
  const core::RunContext context = {.allocator = &bodies.device()};
  const auto whole = AsOneCall(graph, ops::BuiltinOps());
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  EXPECT_TRUE(ir::Verify(*whole).ok());
  const auto program = Program::Prepare(*whole, {&bodies}, context);
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ((*program)->calls(), 1);
  const Step there = Step().On(bodies.device());
  for (int run = 0; run < 2; ++run) {
    const auto results = there.Run(**program);
    ASSERT_TRUE(results.ok()) << results.status().message();
    const auto same = [&](const Tensor& actual, const Tensor& wanted) {
      EXPECT_EQ(&actual.device(), &bodies.device());
      EXPECT_FALSE(actual.HostData<float>().ok());
      const auto difference = ops::Compare(*actual.Copy(core::Cpu()), wanted);
      ASSERT_TRUE(difference.ok());
      EXPECT_EQ(difference->worst, 0) << difference->where;
    };
    for (size_t i = 0; i < 2; ++i) same(results->outputs[i], expected->outputs[i]);
    same(results->states[0], expected->states[0]);
  }
}

TEST(WholeBody, OneCallMeansTheSameToAnyProvider) {
  const ir::Graph graph = Layer();
  const core::RunContext host;
  const auto plain = Program::Prepare(graph, {&ops::ReferenceProvider()}, host);
  const auto whole = AsOneCall(graph, ops::BuiltinOps());
  ASSERT_TRUE(whole.ok());
  const auto program = Program::Prepare(*whole, {&ops::ReferenceProvider()}, host);
  ASSERT_TRUE(program.ok()) << program.status().message();
  const auto expected = Step().Run(**plain);
  const auto results = Step().Run(**program);
  ASSERT_TRUE(results.ok()) << results.status().message();
  for (size_t i = 0; i < 2; ++i) {
    const auto difference = ops::Compare(results->outputs[i], expected->outputs[i]);
    ASSERT_TRUE(difference.ok());
    EXPECT_LT(difference->worst, 1e-6);  // a body is computed in f64 and rounded at the end
  }
}

TEST(WholeBody, WithoutAProviderForTheDeviceThereIsAReason) {
  BodyProvider bodies;
  const core::RunContext context = {.allocator = &bodies.device()};
  const auto program = Program::Prepare(Layer(), {&bodies}, context);
  EXPECT_EQ(program.status().code(), core::StatusCode::kUnsupported);
  EXPECT_THAT(std::string(program.status().message()), HasSubstr("matmul"));
}

}  // namespace
}  // namespace rml::graph
