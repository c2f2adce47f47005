// Every kernel of the provider against the definitions, and what conformance does not show: what
// refusals say, and that one preparation serves many threads at once.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "rml/ops/check/compare.h"
#include "rml/ops/check/conformance.h"
#include "rml/ops/eager.h"
#include "rml/ops/reference.h"
#include "rml/ops/registry.h"
#include "rml/providers/onednn/provider.h"
#include "rml/random/stream.h"

namespace rml::providers::onednn {
namespace {

using core::DType;
using core::Tensor;
using ir::Ints;

TEST(OneDnnProvider, EveryKernelAgreesWithTheReference) {
  for (const ir::OpDef* op : ops::BuiltinOps().all()) {
    const auto report =
        ops::CheckConformance(*op, &OneDnnProvider(), {.quick = true, .definition = false});
    for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
  }
}

TEST(OneDnnProvider, HasKernelsOnlyForOperatorsThatExist) {
  for (const ops::Kernel* kernel : OneDnnProvider().AllKernels()) {
    EXPECT_TRUE(ops::BuiltinOps().Find(kernel->op).ok()) << kernel->op;
  }
}

// What the provider's one kernel for the operator says of a call with inputs of these types.
std::string RefusalOf(std::string_view op, const std::vector<ir::Type>& types) {
  const ir::OpDef& definition = **ops::BuiltinOps().Find(op);
  std::vector<ir::OpCall::Input> inputs;
  for (const ir::Type& type : types) inputs.push_back({.type = type});
  const auto attributes = ir::Attributes::Bind(definition.attributes, {});
  EXPECT_TRUE(attributes.ok());
  const ops::Kernel& kernel = OneDnnProvider().Kernels(op)[0];
  return kernel.accepts(ir::OpCall(definition, inputs, *attributes)).value_or("none");
}

TEST(OneDnnProvider, RefusalsSayWhatWasNeeded) {
  EXPECT_EQ(RefusalOf("matmul", {{DType::kF32, {2, 3}}, {DType::kF32, {3, 4}}}), "none");
  EXPECT_EQ(RefusalOf("matmul", {{DType::kBF16, {2, 3}}, {DType::kBF16, {3, 4}}}),
            "a is bf16, and it takes f32");
  EXPECT_EQ(RefusalOf("matmul", {{DType::kF32, {2, 0}}, {DType::kF32, {0, 4}}}),
            "a is empty, and it takes at least one element");
  EXPECT_EQ(RefusalOf("matmul",
                      {{DType::kF32, {ir::Dim::Symbol("rows", 0, 64), 3}}, {DType::kF32, {3, 4}}}),
            "its sizes must be known before it runs");
  EXPECT_EQ(
      RefusalOf("layer_norm", {{DType::kF32, {2, 3}}, {DType::kF16, {3}}, {DType::kF16, {3}}}),
      "weight is f16, and it takes f32");
  EXPECT_EQ(RefusalOf("convolution",
                      {{DType::kF32, {1, 1, 2, 2, 2, 2}}, {DType::kF32, {1, 1, 1, 1, 1, 1}}}),
            "it takes 1 to 3 spatial axes, not 4");
}

Tensor Random(const core::Shape& shape, uint64_t seed) {
  const random::Stream stream(random::Key::FromSeed(seed));
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(stream.Normal(i));
  return *Tensor::FromHost<float>(shape, values, core::Cpu());
}

struct LargeCall {
  std::string_view op;
  std::vector<core::Shape> inputs;
  ir::AttrList attributes;
};

// Large enough that calls are cut into several tiles, the last of them shorter.
const std::vector<LargeCall>& LargeCalls() {
  static const auto* const calls = new std::vector<LargeCall>{
      {"matmul", {{3, 200, 70}, {70, 1100}}, {}},
      {"matmul", {{700, 1, 9, 8}, {5, 8, 7}}, {}},
      {"matmul", {{2, 50, 130}, {130, 512}}, {}},  // lines of b that fall together
      {"convolution", {{3, 16, 30, 31}, {128, 16, 3, 3}}, {{"pads", Ints{1, 1, 1, 0}}}},
      {"convolution", {{2, 64, 40, 40}, {64, 1, 3, 3}}, {{"groups", 64}, {"strides", Ints{2, 1}}}},
      {"convolution_input_grad",
       {{3, 16, 30, 30}, {16, 128, 3, 3}},
       {{"pads", Ints{1, 1, 1, 1}}, {"shape", ir::Dims{3, 128, 30, 30}}}},
      {"convolution_weight_grad",
       {{3, 16, 30, 30}, {3, 128, 30, 30}},
       {{"pads", Ints{1, 1, 1, 1}}, {"shape", ir::Dims{128, 16, 3, 3}}}},
      {"layer_norm", {{1001, 300}, {300}, {300}}, {}},
      {"batch_norm", {{7, 5, 9000}, {5}, {5}, {5}, {5}}, {}},
      {"batch_norm", {{7, 5, 900}, {5}, {5}, {5}, {5}}, {{"training", true}}},
  };
  return *calls;
}

ir::Values InputsOf(const LargeCall& call) {
  ir::Values inputs;
  for (const core::Shape& shape : call.inputs)
    inputs.push_back(ir::Value(Random(shape, inputs.size())));
  // A variance is positive.
  if (call.op == "batch_norm")
    inputs[4] = ir::Value(*Tensor::FromHost<float>({5}, std::vector<float>(5, 2.0f), core::Cpu()));
  return inputs;
}

ir::Values Outputs(ops::EagerBuilder& eager, const LargeCall& call, const ir::Values& inputs) {
  const ir::OpDef& op = **ops::BuiltinOps().Find(call.op);
  const auto attributes = ir::Attributes::Bind(op.attributes, call.attributes);
  EXPECT_TRUE(attributes.ok());
  auto outputs = eager.Call(op, inputs, *attributes);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? *std::move(outputs) : ir::Values();
}

double WorstOf(const ir::Values& actual, const ir::Values& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto difference = ops::Compare(actual[i].tensor(), expected[i].tensor());
    EXPECT_TRUE(difference.ok()) << difference.status().message();
    worst = std::max(worst, difference->worst);
  }
  return worst;
}

TEST(OneDnnProvider, CallsOfSeveralTilesAgreeWithTheReferenceOnAnyNumberOfThreads) {
  const core::RunContext alone;
  ops::EagerBuilder reference(alone, {&ops::ReferenceProvider()}, ops::BuiltinOps());
  ops::EagerBuilder one(alone, {&OneDnnProvider()}, ops::BuiltinOps());
  core::ThreadPool pool(3);
  const core::RunContext context = {.pool = &pool};
  ops::EagerBuilder three(context, {&OneDnnProvider()}, ops::BuiltinOps());
  for (const LargeCall& call : LargeCalls()) {
    const ir::Values inputs = InputsOf(call);
    const ir::Values found = Outputs(one, call, inputs);
    EXPECT_LT(WorstOf(found, Outputs(reference, call, inputs)), 2e-5) << call.op;
    EXPECT_EQ(WorstOf(Outputs(three, call, inputs), found), 0) << call.op;
  }
}

TEST(OneDnnProvider, TakesNoThreadsButTheRuns) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const core::RunContext alone;
  ops::EagerBuilder eager(alone, {&OneDnnProvider()}, ops::BuiltinOps());
  const auto before = threads();
  for (const LargeCall& call : LargeCalls()) Outputs(eager, call, InputsOf(call));
  EXPECT_EQ(threads(), before);
}

// A builder keeps what was prepared for a signature, so these all run one primitive.
TEST(OneDnnProvider, OnePreparationServesConcurrentRuns) {
  core::ThreadPool pool(2);
  const core::RunContext context = {.pool = &pool};
  ops::EagerBuilder eager(context, {&OneDnnProvider()}, ops::BuiltinOps());
  for (const LargeCall& call : LargeCalls()) {
    const ir::Values inputs = InputsOf(call);
    const ir::Values expected = Outputs(eager, call, inputs);
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 3; ++caller) {
      callers.emplace_back([&] {
        for (int turn = 0; turn < 3; ++turn)
          EXPECT_EQ(WorstOf(Outputs(eager, call, inputs), expected), 0) << call.op;
      });
    }
  }
}

TEST(OneDnnProvider, MatmulTakesTransposedAndStridedMatrices) {
  const core::RunContext alone;
  ops::EagerBuilder eager(alone, {&OneDnnProvider()}, ops::BuiltinOps());
  ops::EagerBuilder reference(alone, {&ops::ReferenceProvider()}, ops::BuiltinOps());
  const LargeCall call = {"matmul", {}, {}};
  const Tensor a = Random({4, 30, 20}, 1);
  const Tensor b = Random({40, 20}, 2);
  const std::vector<Tensor> as = {*a.Slice(1, 3, 17), *a.Slice(0, 0, 4, 3),
                                  *Random({2, 20, 9}, 3).Transpose(1, 2),
                                  *Random({1, 20}, 4).BroadcastTo({6, 20}), *a.Slice(1, 2, 3)};
  const std::vector<Tensor> bs = {*b.Transpose(0, 1), *b.Slice(0, 0, 20),
                                  *Random({20, 40}, 5).Slice(1, 5, 6),
                                  *Random({20, 40}, 6).Slice(1, 0, 40, 3),
                                  *Random({1100, 256}, 7).Slice(1, 0, 20)->Transpose(0, 1)};
  for (const Tensor& left : as) {
    for (const Tensor& right : bs) {
      const ir::Values inputs = {ir::Value(left), ir::Value(right)};
      EXPECT_LT(WorstOf(Outputs(eager, call, inputs), Outputs(reference, call, inputs)), 1e-5);
    }
  }
}

}  // namespace
}  // namespace rml::providers::onednn
