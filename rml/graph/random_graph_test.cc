// Differential tests on random graphs: every way to run a graph, and every way to its gradient,
// agree. For RML_RANDOM_GRAPH_SECONDS seconds, or 200 graphs. A failure is shrunk, and shows its
// graph.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "rml/core/error.h"
#include "rml/graph/program.h"
#include "rml/graph/testing/random_graph.h"
#include "rml/io/json.h"
#include "rml/ir/backward.h"
#include "rml/ir/graph_json.h"
#include "rml/ir/interpret.h"
#include "rml/ir/tape.h"
#include "rml/ir/trace_builder.h"
#include "rml/ir/verify.h"
#include "rml/ops/check/compare.h"
#include "rml/ops/eager.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"
#include "rml/ops/registry.h"
#include "rml/ops/wide.h"
#include "rml/providers/all/all_providers.h"

namespace rml::graph {
namespace {

using core::Expected;
using core::Status;
using core::Tensor;
using ir::Graph;
using ir::Value;
using ir::Values;

constexpr double kTolerance = 1e-3;

// The size of the largest number that went into each value. A difference of nearly equal numbers
// keeps their roundings, whatever is left of itself.
Expected<std::vector<double>> LargestAncestors(const Graph& graph,
                                               std::span<const Value> everything) {
  std::vector<double> largest(graph.values().size(), 0);
  for (size_t v = 0; v < largest.size(); ++v) {
    if (!everything[v].defined()) continue;
    RML_ASSIGN(const ir::RefCall::Wide wide, ops::Widen(everything[v].tensor()));
    if (wide.type != ir::WideType::kFloat) continue;
    for (const uint64_t word : wide.words) {
      const double size = std::abs(std::bit_cast<double>(word));
      if (std::isfinite(size)) largest[v] = std::max(largest[v], size);
    }
  }
  for (const ir::Node& node : graph.nodes()) {
    for (const ir::ValueId out : node.outputs) {
      for (const ir::ValueId in : node.inputs) {
        if (in == ir::kNoValue) continue;
        double& size = largest[static_cast<size_t>(out)];
        size = std::max(size, largest[static_cast<size_t>(in)]);
      }
    }
  }
  return largest;
}

// `sizes`: for each value, the size that Compare takes at least; empty for none.
Status Agree(std::string_view what, std::span<const Tensor> actual, const Values& expected,
             double tolerance, std::span<const double> sizes = {}) {
  if (actual.size() != expected.size())
    return core::Internal(what, ": ", actual.size(), " values, expected ", expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    RML_ASSIGN(const ops::Difference difference,
               ops::Compare(actual[i], expected[i].tensor(), sizes.empty() ? 0 : sizes[i]));
    if (difference.worst > tolerance)
      return core::Internal(what, ": value ", i, " differs by ", difference.worst, " ",
                            difference.where);
  }
  return {};
}

std::vector<Tensor> Tensors(const Values& values) {
  std::vector<Tensor> tensors;
  for (const Value& value : values) tensors.push_back(value.tensor());
  return tensors;
}

class Differential {
 public:
  Status Check(const testing::Recipe& recipe, uint64_t seed) {
    RML_TRY(CheckRuns(testing::GrowGraph(recipe, core::DType::kF32), seed));
    return CheckGradients(testing::GrowGraph(recipe, core::DType::kF64), seed);
  }

 private:
  Status CheckRuns(const Graph& graph, uint64_t seed) {
    RML_TRY(ir::Verify(graph));
    const std::vector<Tensor> inputs = testing::RandomInputs(graph, seed);
    Values given;
    for (const Tensor& tensor : inputs) given.push_back(Value(tensor));
    ops::EagerBuilder eager(context_, reference_, ops::BuiltinOps());
    RML_ASSIGN(const std::vector<Value> everything,
               ir::InterpretAll(eager, graph, {.inputs = given}));
    RML_ASSIGN(const std::vector<double> largest, LargestAncestors(graph, everything));
    Values expected;
    std::vector<double> sizes;
    for (const ir::ValueId id : graph.outputs()) {
      expected.push_back(everything[static_cast<size_t>(id)]);
      // A few roundings of the largest number are within the tolerance.
      sizes.push_back(largest[static_cast<size_t>(id)] * 1e-6 / kTolerance);
    }

    RML_ASSIGN(const auto plain, Program::Prepare(graph, reference_, context_));
    RML_ASSIGN(const Program::Results same, plain->Run({.inputs = inputs}));
    RML_TRY(Agree("program", same.outputs, expected, 0));
    for (const ops::Provider* provider : all_)
      RML_TRY(CheckProvider({provider, &ops::ReferenceProvider()}, graph, inputs, expected, sizes));
    RML_TRY(CheckProvider(all_, graph, inputs, expected, sizes));

    std::vector<ir::NamedTensor> constants;
    RML_ASSIGN(const io::Json json, io::Json::Parse(ir::GraphToJson(graph, &constants).Dump()));
    RML_ASSIGN(
        const Graph back,
        ir::GraphFromJson(json, ops::BuiltinOps(), [&](std::string_view name) -> Expected<Tensor> {
          for (const ir::NamedTensor& constant : constants) {
            if (constant.name == name) return constant.tensor;
          }
          return core::NotFound(name);
        }));
    if (back.ToString() != graph.ToString())
      return core::Internal("the graph changed on its way through JSON");
    return {};
  }

  Status CheckProvider(const ops::ProviderList& providers, const Graph& graph,
                       const std::vector<Tensor>& inputs, const Values& expected,
                       std::span<const double> sizes) {
    const std::string name(providers[0]->name());
    RML_ASSIGN(const auto program, Program::Prepare(graph, providers, context_));
    RML_ASSIGN(const Program::Results results, program->Run({.inputs = inputs}));
    RML_TRY(Agree(name + ", program", results.outputs, expected, kTolerance, sizes));
    Values given;
    for (const Tensor& tensor : inputs) given.push_back(Value(tensor));
    ops::EagerBuilder eager(context_, providers, ops::BuiltinOps());
    RML_ASSIGN(const Values values, ir::Interpret(eager, graph, given));
    return Agree(name + ", program against eager", results.outputs, values, 0);
  }

  Status CheckGradients(const Graph& graph, uint64_t seed) {
    ops::EagerBuilder eager(context_, reference_, ops::BuiltinOps());
    const ops::Emit e(eager);
    Values leaves;
    for (const Tensor& tensor : testing::RandomInputs(graph, seed)) {
      leaves.push_back(Value(tensor));
      leaves.back().set_requires_grad(true);
    }
    try {
      RML_ASSIGN(const Values outputs, ir::Interpret(eager, graph, leaves));
      Values seeds;
      for (const Value& value : outputs) seeds.push_back(e.full(1, value.type()));
      RML_ASSIGN(const Values expected, ir::TapeBackward(eager, outputs, seeds, leaves));

      Graph both = graph;
      ir::TraceBuilder trace(both, ops::BuiltinOps(), core::Cpu());
      const ops::Emit t(trace);
      std::vector<Value> values;
      for (size_t v = 0; v < graph.values().size(); ++v)
        values.push_back(trace.At(static_cast<ir::ValueId>(v)));
      Values ones;
      for (const ir::ValueId id : graph.outputs()) ones.push_back(t.full(1, graph.value(id).type));
      RML_ASSIGN(const Values grads, ir::GraphBackward(trace, graph, values, ones, graph.inputs()));
      std::vector<ir::ValueId> returned;
      Values there;
      for (size_t i = 0; i < grads.size(); ++i) {
        if (grads[i].defined() != expected[i].defined())
          return core::Internal("gradient ", i, " is there in one way only");
        if (!grads[i].defined()) continue;
        returned.push_back(grads[i].id());
        there.push_back(expected[i]);
      }
      both.set_outputs(returned);
      RML_TRY(ir::Verify(both));
      const Values given(leaves);
      const ir::GradientModeGuard off(false);
      RML_ASSIGN(const Values found, ir::Interpret(eager, both, given));
      // Sums of gradients come in another order.
      return Agree("gradient by trace", Tensors(found), there, 1e-12);
    } catch (const Error& error) {
      return error.status();
    }
  }

  const core::RunContext context_;
  const ops::ProviderList reference_ = {&ops::ReferenceProvider()};
  const ops::ProviderList all_ = providers::AllProviders();
};

TEST(RandomGraphs, EveryWayToRunThemAgrees) {
  const char* const limit = std::getenv("RML_RANDOM_GRAPH_SECONDS");
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(limit != nullptr ? std::atoi(limit) : 0);
  Differential differential;
  for (uint64_t seed = 0; seed < 200 || std::chrono::steady_clock::now() < end; ++seed) {
    const testing::Recipe recipe = testing::RandomRecipe(seed, 1 + static_cast<int>(seed % 30));
    const Status status = differential.Check(recipe, seed);
    if (status.ok()) continue;
    const auto small = testing::Shrink(
        recipe, [&](const testing::Recipe& r) { return !differential.Check(r, seed).ok(); });
    FAIL() << "seed " << seed << ": " << differential.Check(small, seed).message() << "\n"
           << testing::GrowGraph(small, core::DType::kF32).ToString();
  }
}

TEST(RandomGraphs, ShrinkingLeavesWhatFails) {
  const testing::Recipe recipe = testing::RandomRecipe(3, 200);
  const auto has_softmax = [](const testing::Recipe& r) {
    return testing::GrowGraph(r, core::DType::kF32).ToString().find("softmax(") !=
           std::string::npos;
  };
  ASSERT_TRUE(has_softmax(recipe));
  EXPECT_EQ(testing::Shrink(recipe, has_softmax).size(), 1u);
}

}  // namespace
}  // namespace rml::graph
