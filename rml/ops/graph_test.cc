// Graphs of real operators: building, rules, text, interpretation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/core/error.h"
#include "rml/ir/backward.h"
#include "rml/ir/graph_json.h"
#include "rml/ir/interpret.h"
#include "rml/ir/tape.h"
#include "rml/ir/trace_builder.h"
#include "rml/ir/verify.h"
#include "rml/ops/eager.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"

namespace rml::ops {
namespace {

using ir::Dim;
using ir::Graph;
using ir::Type;
using ir::Value;
using ir::Values;
using ::testing::HasSubstr;

Type F32(ir::Dims dims) { return {core::DType::kF32, dims}; }

Value Tensor(const core::Shape& shape, std::vector<float> values) {
  return Value(*core::Tensor::FromHost<float>(shape, values, core::Cpu()));
}

std::vector<float> Floats(const Value& value) {
  const auto data = value.tensor().HostData<float>();
  return {data->begin(), data->end()};
}

class GraphTest : public ::testing::Test {
 protected:
  const core::RunContext context_;
  EagerBuilder eager_{context_, {&ReferenceProvider()}, BuiltinOps()};
  Graph graph_;
  ir::TraceBuilder trace_{graph_, BuiltinOps(), core::Cpu()};
  const Emit t_{trace_};
  const Emit e_{eager_};

  // y = tanh(x · w), with a batch of any size.
  void TraceLayer() {
    const Dim batch = Dim::Symbol("batch", 0, 64);
    const Value x = trace_.Input(F32({batch, 3}), "x");
    const Value w = trace_.Parameter(F32({3, 2}), "w");
    graph_.AddOutput(t_.one("tanh", {t_.matmul(x, w)}).id());
  }
};

std::string MessageOf(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(GraphTest, TextShowsEverything) {
  TraceLayer();
  EXPECT_EQ(graph_.ToString(),
            "graph(%0 \"x\": f32[batch, 3]) {\n"
            "  parameter %1 \"w\": f32[3, 2]\n"
            "  %2: f32[batch, 2] = matmul(%0, %1)\n"
            "  %3: f32[batch, 2] = tanh(%2)\n"
            "  return %3\n"
            "}");
  EXPECT_TRUE(ir::Verify(graph_).ok());
}

TEST_F(GraphTest, MessagesNameTheOperatorAndTheDimensions) {
  const Value a = trace_.Input(F32({2, 4}));
  const Value b = trace_.Input(F32({5, 3}));
  EXPECT_EQ(MessageOf([&] { t_.matmul(a, b); }), "matmul: inner dimensions 4 and 5 differ");
  EXPECT_THAT(MessageOf([&] { t_.add(a, b); }),
              HasSubstr("add: shapes [2, 4] and [5, 3] do not broadcast"));
  EXPECT_THAT(MessageOf([&] { t_.one("matmull", {a, b}); }), HasSubstr("did you mean \"matmul\"?"));
  EXPECT_THAT(MessageOf([&] {
                t_.one("sum", {a}, {{"axis", 1}});
              }),
              HasSubstr("did you mean \"axes\"?"));
  EXPECT_THAT(MessageOf([&] {
                t_.one("sum", {a}, {{"axes", ir::Ints{2}}});
              }),
              HasSubstr("axis 2 is outside a value of 2 dimensions"));
  EXPECT_THAT(MessageOf([&] { t_.add(a, t_.cast(b, core::DType::kF16)); }),
              HasSubstr("a is f32 and b is f16"));
  EXPECT_THAT(MessageOf([&] {
                t_.one("tanh", {t_.one("less", {a, a})});
              }),
              HasSubstr("tanh: x is bool"));
  EXPECT_THAT(MessageOf([&] {
                t_.broadcast(a, {int64_t{1} << 40, int64_t{1} << 40, 2, 4});
              }),
              HasSubstr("overflows"));
}

TEST_F(GraphTest, SymbolsAreFilledInByWhatIsGiven) {
  TraceLayer();
  const Value w = Tensor({3, 2}, {1, 0, 0, 1, 0, 0});
  for (const int64_t batch : {0, 1, 5}) {
    const Value x = Tensor({batch, 3}, std::vector<float>(static_cast<size_t>(3 * batch), 0.5f));
    const auto values = ir::InterpretAll(
        eager_, graph_, {.inputs = std::span(&x, 1), .parameters = std::span(&w, 1)});
    ASSERT_TRUE(values.ok()) << values.status().message();
    EXPECT_EQ((*values)[3].tensor().shape(), (core::Shape{batch, 2}));
  }
  const Value wrong = Tensor({2, 4}, std::vector<float>(8));
  const auto values = ir::InterpretAll(
      eager_, graph_, {.inputs = std::span(&wrong, 1), .parameters = std::span(&w, 1)});
  EXPECT_THAT(std::string(values.status().message()),
              HasSubstr("input x: expected f32[batch, 3], got f32[2, 4]"));
}

TEST_F(GraphTest, OneSymbolIsOneSize) {
  const Dim n = Dim::Symbol("n", 0, 100);
  const Value a = trace_.Input(F32({n}), "a");
  const Value b = trace_.Input(F32({n}), "b");
  graph_.AddOutput(t_.add(a, b).id());
  const Value given[] = {Tensor({3}, {1, 2, 3}), Tensor({1}, {1})};
  const auto values = ir::Interpret(eager_, graph_, given);
  EXPECT_THAT(std::string(values.status().message()), HasSubstr("n is 3 elsewhere"));
  const Value large[] = {Tensor({101}, std::vector<float>(101)),
                         Tensor({101}, std::vector<float>(101))};
  EXPECT_THAT(std::string(ir::Interpret(eager_, graph_, large).status().message()),
              HasSubstr("n is from 0 to 100"));
}

TEST_F(GraphTest, SizesThatOnlyTheRunKnowsFlowOn) {
  const Value x = trace_.Input(F32({6}), "x");
  const Values unique = t_.call("unique", {x});
  graph_.AddOutput(t_.mul(unique[0], 2).id());
  ASSERT_TRUE(ir::Verify(graph_).ok());
  const Value given = Tensor({6}, {3, 1, 3, 2, 2, 1});
  const auto values = ir::Interpret(eager_, graph_, std::span(&given, 1));
  ASSERT_TRUE(values.ok()) << values.status().message();
  EXPECT_THAT(Floats((*values)[0]), ::testing::ElementsAre(2, 4, 6));
}

TEST_F(GraphTest, BrokenGraphsNameTheRuleAndTheNode) {
  TraceLayer();
  Graph wrong_type = graph_;
  const ir::ValueId inputs[] = {0, 1};
  const Type type = F32({7});
  wrong_type.AddNode(**BuiltinOps().Find("matmul"), inputs, {}, std::span(&type, 1));
  EXPECT_THAT(std::string(ir::Verify(wrong_type).message()),
              HasSubstr("graph rule types-follow: node 2 (matmul): %4 is stated as f32[7]"));
  Graph missing = graph_;
  const ir::ValueId absent[] = {99};
  missing.AddNode(**BuiltinOps().Find("tanh"), absent, {}, std::span(&type, 1));
  EXPECT_THAT(std::string(ir::Verify(missing).message()),
              HasSubstr("graph rule ids-exist: node 2 (tanh) reads value 99"));
  Graph update = graph_;
  update.AddUpdate(0, 3);
  EXPECT_THAT(std::string(ir::Verify(update).message()), HasSubstr("x is updated and is no state"));
}

TEST_F(GraphTest, TracedValuesHaveNoContent) {
  const Value x = trace_.Input(F32({2}), "x");
  EXPECT_THAT(MessageOf([&] { e_.one("tanh", {x}); }),
              HasSubstr("tanh: a value that is being traced, x, has no content"));
}

TEST_F(GraphTest, LongChainsAreDestroyedWithoutRecursion) {
  Value x = Tensor({1}, {0.5f});
  x.set_requires_grad(true);
  Value y = x;
  for (int i = 0; i < 200'000; ++i) y = e_.neg(y);
  y = Value();
}

TEST_F(GraphTest, BackwardReleasesTheTapeAndSaysSo) {
  Value x = Tensor({2}, {1, 2});
  x.set_requires_grad(true);
  const Value y = e_.mul(x, x);
  const Value one = Tensor({2}, {1, 1});
  const auto first =
      ir::TapeBackward(eager_, std::span(&y, 1), std::span(&one, 1), std::span(&x, 1));
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_THAT(Floats((*first)[0]), ::testing::ElementsAre(2, 4));
  const auto second =
      ir::TapeBackward(eager_, std::span(&y, 1), std::span(&one, 1), std::span(&x, 1));
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("used up"));
}

TEST_F(GraphTest, NoNodesAreKeptWithoutGradientMode) {
  Value x = Tensor({2}, {1, 2});
  x.set_requires_grad(true);
  const ir::GradientModeGuard off(false);
  EXPECT_FALSE(e_.mul(x, x).requires_grad());
}

TEST_F(GraphTest, IndicesOutOfRangeNameTheirPlace) {
  const Value x = Tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::vector<int64_t> places = {0, 1, 2, 3};
  const Value indices(*core::Tensor::FromHost<int64_t>({2, 2}, places, core::Cpu()));
  EXPECT_THAT(MessageOf([&] {
                e_.one("take_along_axis", {x, indices});
              }),
              HasSubstr("take_along_axis: index 3 at [1, 1] is outside an axis of 3 elements"));
}

// The graph written, parsed, and read back.
core::Expected<Graph> ThroughJson(const Graph& graph) {
  std::vector<ir::NamedTensor> constants;
  const std::string text = ir::GraphToJson(graph, &constants).Dump(1);
  RML_ASSIGN(const io::Json json, io::Json::Parse(text));
  return ir::GraphFromJson(json, BuiltinOps(),
                           [&](std::string_view name) -> core::Expected<core::Tensor> {
                             for (const ir::NamedTensor& constant : constants) {
                               if (constant.name == name) return constant.tensor;
                             }
                             return core::NotFound("no tensor ", name);
                           });
}

TEST_F(GraphTest, JsonIsReadBackEqual) {
  TraceLayer();
  const Value state = trace_.State(F32({2}), "moving");
  const Value y = trace_.At(3);
  const Value mean = t_.mean(y, {0});
  graph_.AddUpdate(state.id(), t_.add(t_.mul(state, 0.9), t_.mul(mean, 0.1)).id());
  graph_.AddOutput(t_.reshape(y, {y.dim(0) * Dim(2)}).id());
  const auto back = ThroughJson(graph_);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->ToString(), graph_.ToString());
}

TEST_F(GraphTest, EverySampleOfEveryOperatorGoesThroughJson) {
  for (const ir::OpDef* op : BuiltinOps().all()) {
    for (const ir::Sample& sample : op->samples()) {
      Graph graph;
      ir::TraceBuilder trace(graph, BuiltinOps(), core::Cpu());
      Values inputs;
      for (size_t i = 0; i < sample.inputs.size(); ++i) {
        const ir::SampleInput& input = sample.inputs[i];
        const std::string_view type = op->input_def(static_cast<int>(i)).type;
        core::DType dtype =
            input.dtype.value_or(core::ParseDType(type).value_or(core::DType::kF32));
        if (const ir::TypeVar* var = op->type_var(type); var != nullptr && !input.dtype)
          dtype = var->allowed.list().front();
        inputs.push_back(input.fill.kind == ir::Fill::Kind::kNone
                             ? Value()
                             : trace.Input({dtype, ir::Dims(input.shape)}));
      }
      const Emit emit(trace);
      for (const Value& value : emit.call(op->name, inputs, sample.attributes))
        graph.AddOutput(value.id());
      const auto back = ThroughJson(graph);
      ASSERT_TRUE(back.ok()) << op->name << ": " << back.status().message();
      EXPECT_EQ(back->ToString(), graph.ToString());
    }
  }
}

TEST_F(GraphTest, FoldersAreMapped) {
  TraceLayer();
  const Value constant = e_.full(0.5, F32({2}));
  graph_.AddOutput(t_.add(trace_.At(3), constant).id());
  const std::string folder = ::testing::TempDir() + "rml_graph_folder";
  ASSERT_TRUE(ir::SaveGraph(graph_, folder).ok());
  const auto back = ir::LoadGraph(folder, BuiltinOps());
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->ToString(), graph_.ToString());
  EXPECT_FALSE(back->value(4).constant.buffer()->writable()) << "mapped, not copied";
  EXPECT_THAT(std::string(ir::LoadGraph(folder + "_missing", BuiltinOps()).status().message()),
              HasSubstr("graph.json"));
}

TEST_F(GraphTest, MalformedFilesSayWhere) {
  TraceLayer();
  std::vector<ir::NamedTensor> constants;
  const std::string good = ir::GraphToJson(graph_, &constants).Dump();
  const auto message = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const auto json = io::Json::Parse(text);
    EXPECT_TRUE(json.ok()) << text;
    const auto graph = ir::GraphFromJson(
        *json, BuiltinOps(),
        [](std::string_view) -> core::Expected<core::Tensor> { return core::NotFound("none"); });
    EXPECT_FALSE(graph.ok());
    return std::string(graph.status().message());
  };
  EXPECT_THAT(message("rml-graph", "other"), HasSubstr("format"));
  EXPECT_THAT(message("\"version\": 1", "\"version\": 2"), HasSubstr("version"));
  EXPECT_THAT(message("\"matmul\"", "\"matmull\""),
              HasSubstr("nodes[0]: there is no operator \"matmull\"; did you mean \"matmul\"?"));
  EXPECT_THAT(message("\"inputs\": [0, 1]", "\"inputs\": [0, 77]"),
              HasSubstr("nodes[0]: inputs[1]: there is no value 77"));
  EXPECT_THAT(message("\"inputs\": [2]", "\"inputs\": [3]"), HasSubstr("operands-before-use"));
  EXPECT_THAT(message("\"f32\"", "\"f33\""), HasSubstr("values[0]: \"f33\" is no dtype"));
  EXPECT_THAT(message("[\"batch\", 3]", "[\"batch +\", 3]"), HasSubstr("values[0]: dimension"));
  EXPECT_THAT(message("[\"batch\", 3]", "[\"other\", 3]"), HasSubstr("not in symbols"));
  EXPECT_THAT(message("[\"batch\", 2]", "[\"batch\", 5]"), HasSubstr("types-follow"));
  EXPECT_THAT(message("\"outputs\": [3]", "\"outputs\": [2]"), HasSubstr("one-producer"));
}

}  // namespace
}  // namespace rml::ops
