#include "rml/graph/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/graph/buffer_layout.h"
#include "rml/ir/interpret.h"
#include "rml/ir/trace_builder.h"
#include "rml/ir/verify.h"
#include "rml/ops/check/compare.h"
#include "rml/ops/check/op_case.h"
#include "rml/ops/eager.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"
#include "rml/ops/registry.h"

namespace rml::graph {
namespace {

using core::Tensor;
using ir::Dim;
using ir::Graph;
using ir::Type;
using ir::Value;
using ::testing::HasSubstr;

Type F32(ir::Dims dims) { return {core::DType::kF32, dims}; }

Tensor Floats(const core::Shape& shape, float first) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + 0.25f * static_cast<float>(i);
  return *Tensor::FromHost<float>(shape, values, core::Cpu());
}

class ProgramTest : public ::testing::Test {
 protected:
  const core::RunContext context_;
  const ops::ProviderList providers_ = {&ops::ReferenceProvider()};
  Graph graph_;
  ir::TraceBuilder trace_{graph_, ops::BuiltinOps(), core::Cpu()};
  const ops::Emit t_{trace_};
};

TEST_F(ProgramTest, RunsLikeEagerCallsAgainAndAgain) {
  const Value x = trace_.Input(F32({4, 3}), "x");
  const Value w = trace_.Parameter(F32({3, 2}), "w");
  Value y = t_.one("tanh", {t_.matmul(x, w)});
  for (int i = 0; i < 5; ++i) y = t_.add(t_.mul(y, 0.5), y);
  graph_.AddOutput(t_.sum(y, {0}).id());
  graph_.AddOutput(y.id());
  const auto program = Program::Prepare(graph_, providers_, context_);
  ASSERT_TRUE(program.ok()) << program.status().message();
  ops::EagerBuilder eager(context_, providers_, ops::BuiltinOps());
  for (const float first : {0.0f, -1.0f}) {
    const Tensor inputs[] = {Floats({4, 3}, first)};
    const Tensor parameters[] = {Floats({3, 2}, 0.5f)};
    const auto results = (*program)->Run({.inputs = inputs, .parameters = parameters});
    ASSERT_TRUE(results.ok()) << results.status().message();
    const Value input(inputs[0]), parameter(parameters[0]);
    const auto values = ir::InterpretAll(
        eager, graph_, {.inputs = std::span(&input, 1), .parameters = std::span(&parameter, 1)});
    ASSERT_TRUE(values.ok());
    for (size_t i = 0; i < 2; ++i) {
      const auto difference = ops::Compare(
          results->outputs[i], (*values)[static_cast<size_t>(graph_.outputs()[i])].tensor());
      ASSERT_TRUE(difference.ok());
      EXPECT_EQ(difference->worst, 0);
    }
  }
  EXPECT_EQ((*program)->calls(), 13);
  EXPECT_LE((*program)->buffer_bytes(), 4 * 64) << "values that never meet share a place";
}

TEST_F(ProgramTest, StatesAreUpdatedInPlaceWhereTheyDie) {
  // cache' = append(append(cache, x)): the second append may work in the first one's memory.
  const Type position = {core::DType::kI64, {1}};
  const Value cache = trace_.State(F32({1, 1, 4, 2}), "cache");
  const Value x = trace_.Input(F32({1, 1, 1, 2}), "x");
  const Value at = trace_.Input(position, "at");
  const Value once = t_.one("kv_append", {cache, x, at});
  const Value twice = t_.one("kv_append", {once, x, t_.add(at, 1)});
  graph_.AddUpdate(cache.id(), twice.id());
  const auto program = Program::Prepare(graph_, providers_, context_);
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_LE((*program)->buffer_bytes(), 64 + 64) << "one cache and one position";
  const std::vector<int64_t> places = {1};
  const Tensor inputs[] = {Floats({1, 1, 1, 2}, 5),
                           *Tensor::FromHost<int64_t>({1}, places, core::Cpu())};
  const Tensor states[] = {Floats({1, 1, 4, 2}, 0)};
  const auto results = (*program)->Run({.inputs = inputs, .states = states});
  ASSERT_TRUE(results.ok()) << results.status().message();
  const auto next = results->states[0].HostData<float>();
  EXPECT_THAT(std::vector<float>(next->begin(), next->end()),
              ::testing::ElementsAre(0, 0.25f, 5, 5.25f, 5, 5.25f, 1.5f, 1.75f));
  EXPECT_EQ((*states[0].HostData<float>())[2], 0.5f) << "the old state is the caller's";
}

TEST_F(ProgramTest, EverySampleRunsLikeEager) {
  for (const ir::OpDef* op : ops::BuiltinOps().all()) {
    const auto cases = ops::CasesOf(*op, true);
    ASSERT_TRUE(cases.ok());
    for (const ops::OpCase& c : *cases) {
      Graph graph;
      ir::TraceBuilder trace(graph, ops::BuiltinOps(), core::Cpu());
      ir::Values traced;
      std::vector<Tensor> given;
      for (const Tensor& tensor : c.inputs) {
        traced.push_back(tensor.defined() ? trace.Input({tensor.dtype(), ir::Dims(tensor.shape())})
                                          : Value());
        if (tensor.defined()) given.push_back(tensor);
      }
      const auto made = ops::RunCase(trace, c, traced);
      ASSERT_TRUE(made.ok()) << made.status().message();
      bool known = true;
      for (const Value& value : *made) {
        graph.AddOutput(value.id());
        known = known && value.type().dims.is_static();
      }
      const auto program = Program::Prepare(graph, providers_, context_);
      EXPECT_EQ(program.ok(), known) << c.ToString();
      if (!program.ok()) {
        EXPECT_THAT(std::string(program.status().message()),
                    HasSubstr("needs sizes that are known"));
        continue;
      }
      const auto results = (*program)->Run({.inputs = given});
      ASSERT_TRUE(results.ok()) << c.ToString() << ": " << results.status().message();
      const auto expected = ops::RunReferenceCase(c);
      ASSERT_TRUE(expected.ok());
      for (size_t i = 0; i < expected->size(); ++i) {
        const auto difference = ops::Compare(results->outputs[i], (*expected)[i].tensor());
        ASSERT_TRUE(difference.ok()) << c.ToString();
        EXPECT_EQ(difference->worst, 0) << c.ToString() << difference->where;
      }
    }
  }
}

TEST_F(ProgramTest, SymbolsAreSpecialisedFirst) {
  const Dim batch = Dim::Symbol("batch", 1, 64);
  const Value x = trace_.Input(F32({batch, 3}), "x");
  graph_.AddOutput(t_.mean(t_.reshape(x, {batch * Dim(3)}), {}).id());
  EXPECT_THAT(std::string(Program::Prepare(graph_, providers_, context_).status().message()),
              HasSubstr("specialise"));
  const Type given = F32({5, 3});
  const auto special = Specialize(graph_, std::span(&given, 1), ops::BuiltinOps());
  ASSERT_TRUE(special.ok()) << special.status().message();
  EXPECT_TRUE(ir::Verify(*special).ok());
  const auto program = Program::Prepare(*special, providers_, context_);
  ASSERT_TRUE(program.ok()) << program.status().message();
  const Tensor inputs[] = {Floats({5, 3}, 1)};
  const auto results = (*program)->Run({.inputs = inputs});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ((*results->outputs[0].HostData<float>())[0], 2.75f);
  const Tensor wrong[] = {Floats({4, 3}, 1)};
  EXPECT_THAT(std::string((*program)->Run({.inputs = wrong}).status().message()),
              HasSubstr("input x: expected f32[5, 3], got f32[4, 3]"));
}

TEST(BufferLayout, ValuesThatMeetAreApartAndOthersShare) {
  const Lifetime values[] = {{100, 0, 1}, {200, 1, 2}, {100, 2, 3}, {64, 0, 3}};
  const BufferLayout layout = LayOut(values);
  EXPECT_EQ(layout.bytes, 256 + 128 + 64);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(layout.offsets[i] % 64, 0);
    for (size_t j = 0; j < i; ++j) {
      const bool meet = values[i].first <= values[j].last && values[j].first <= values[i].last;
      const bool apart = layout.offsets[i] + values[i].bytes <= layout.offsets[j] ||
                         layout.offsets[j] + values[j].bytes <= layout.offsets[i];
      EXPECT_TRUE(!meet || apart) << i << " and " << j;
    }
  }
}

}  // namespace
}  // namespace rml::graph
