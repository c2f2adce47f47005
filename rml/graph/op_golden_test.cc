// The operators against what NumPy, PyTorch, JAX and ONNX computed (testdata/golden/ops): by their
// definitions, and by the kernels that a program would get. One test a case.
#include <algorithm>
#include <array>
#include <utility>

#include <gtest/gtest.h>

#include "rml/graph/testing/golden_case.h"
#include "rml/ir/backward.h"
#include "rml/ir/interpret.h"
#include "rml/ir/tape.h"
#include "rml/ops/check/compare.h"
#include "rml/ops/eager.h"
#include "rml/ops/reference.h"
#include "rml/ops/registry.h"
#include "rml/providers/all/all_providers.h"

namespace rml::graph {
namespace {

using core::Status;
using core::StrCat;
using ir::Value;
using ir::Values;
using testing::GoldenCase;

const std::string kGoldenOps = RML_TESTDATA "/golden/ops";

// What a right answer may be off by: some units in the last place, for the others round too.
// Small floats come out of casts only, which have one right answer.
constexpr ir::Tolerance kGoldenTolerance = {
    .f64 = 1e-12, .f32 = 2e-6, .f16 = 1e-3, .bf16 = 8e-3, .f8 = 0};

const std::vector<GoldenCase>& GoldenCases() {
  static const auto* const cases = [] {
    auto read = testing::ReadGoldenCases(kGoldenOps);
    if (!read.ok()) ADD_FAILURE() << read.status().message();
    return new std::vector<GoldenCase>(read.ok() ? *std::move(read) : std::vector<GoldenCase>());
  }();
  return *cases;
}

// The worst of the values, each compared by itself: so that a large one does not hide a small one.
core::Expected<ops::Difference> CompareEach(const core::Tensor& actual,
                                            const core::Tensor& expected) {
  ops::Difference worst;
  RML_ASSIGN(const core::Tensor a, actual.Contiguous(core::Cpu()));
  if (!(a.shape() == expected.shape()) || a.dtype() != expected.dtype() ||
      core::Info(a.dtype()).block_elements > 1)
    return ops::Compare(a, expected);
  RML_ASSIGN(const core::Shape flat, core::Shape::Make(std::array{a.elements()}));
  RML_ASSIGN(const core::Tensor actuals, a.Reshape(flat));
  RML_ASSIGN(const core::Tensor expecteds, expected.Reshape(flat));
  for (int64_t i = 0; i < a.elements(); ++i) {
    RML_ASSIGN(const core::Tensor one, actuals.Slice(0, i, i + 1));
    RML_ASSIGN(const core::Tensor other, expecteds.Slice(0, i, i + 1));
    RML_ASSIGN(ops::Difference difference, ops::Compare(one, other));
    difference.where = StrCat("number ", i, ", ", difference.where);
    if (difference.worst > worst.worst) worst = std::move(difference);
  }
  return worst;
}

// A case through one list of providers.
class GoldenRun {
 public:
  GoldenRun(const GoldenCase& c, const ir::Graph& graph, const ops::ProviderList& providers,
            bool own_tolerance)
      : case_(c),
        graph_(graph),
        builder_(context_, providers, ops::BuiltinOps()),
        own_tolerance_(own_tolerance) {}

  Status Check() {
    Values inputs;
    for (const ir::ValueId id : graph_.inputs()) {
      RML_ASSIGN(const core::Tensor tensor,
                 case_.Tensor(graph_.value(id).name, graph_.value(id).type));
      inputs.push_back(Value(tensor));
    }
    const ir::GradientModeGuard off(false);
    RML_ASSIGN(const std::vector<Value> values,
               ir::InterpretAll(builder_, graph_, {.inputs = inputs}));
    for (const ir::ValueId id : graph_.outputs()) {
      RML_TRY(CheckValue(graph_.value(id).name, values[static_cast<size_t>(id)]));
    }
    return case_.gradients.empty() ? Status() : CheckGradients(values);
  }

 private:
  Status CheckValue(const std::string& name, const Value& value) const {
    RML_ASSIGN(const core::Tensor expected,
               case_.Tensor(name, {value.dtype(), ir::Dims(value.tensor().shape())}));
    // Kernels are held to their operators' measure, which knows the size of all values.
    const auto difference = case_.each && !own_tolerance_ ? CompareEach(value.tensor(), expected)
                                                          : ops::Compare(value.tensor(), expected);
    if (!difference.ok()) return difference.status().WithContext(name);
    const double allowed = Allowed(value.dtype());
    if (difference->worst <= allowed) return {};
    return core::Internal(name, " is off by ", difference->worst, " (", allowed, " is allowed) ",
                          difference->where);
  }

  double Allowed(core::DType dtype) const {
    double allowed = ops::ToleranceFor(kGoldenTolerance, dtype);
    if (case_.tolerance >= 0 && core::IsFloat(dtype)) allowed = case_.tolerance;
    if (!own_tolerance_) return allowed;
    for (const ir::Node& node : graph_.nodes())
      allowed = std::max(allowed, ops::ToleranceFor(node.op->tolerance, dtype));
    return allowed;
  }

  Status CheckGradients(const std::vector<Value>& values) {
    Values given;
    for (const ir::ValueId id : graph_.outputs()) {
      const ir::GraphValue& output = graph_.value(id);
      const std::string name = output.name + ".grad";
      if (!case_.Has(name)) {
        given.push_back(Value());
        continue;
      }
      RML_ASSIGN(const core::Tensor tensor, case_.Tensor(name, output.type));
      given.push_back(Value(tensor));
    }
    std::vector<ir::ValueId> wanted;
    for (const std::string& name : case_.gradients) wanted.push_back(graph_.Find(name));
    RML_ASSIGN(const Values found, ir::GraphBackward(builder_, graph_, values, given, wanted));
    for (size_t i = 0; i < wanted.size(); ++i) {
      const std::string name = case_.gradients[i] + ".grad";
      if (!found[i].defined()) return core::Internal(name, ": no gradient arrives");
      RML_TRY(CheckValue(name, found[i]));
    }
    return {};
  }

  const GoldenCase& case_;
  const ir::Graph& graph_;
  const core::RunContext context_;
  ops::EagerBuilder builder_;
  const bool own_tolerance_;  // kernels are held to their operators' tolerance, which may be wider
};

class OpGolden : public ::testing::TestWithParam<size_t> {
 protected:
  static void Run(const ops::ProviderList& providers, bool own_tolerance) {
    const GoldenCase& c = GoldenCases()[GetParam()];
    const auto graph = c.ReadGraph();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const Status status = GoldenRun(c, *graph, providers, own_tolerance).Check();
    EXPECT_TRUE(status.ok()) << status.message();
  }
};

TEST_P(OpGolden, DefinitionGivesTheSame) { Run({&ops::ReferenceProvider()}, false); }

TEST_P(OpGolden, KernelsGiveTheSame) { Run(providers::AllProviders(), true); }

INSTANTIATE_TEST_SUITE_P(Cases, OpGolden, ::testing::Range(size_t{0}, GoldenCases().size()),
                         [](const auto& number) {
                           const GoldenCase& c = GoldenCases()[number.param];
                           return StrCat(c.source, "_", c.name);
                         });

TEST(OpGoldenCoverage, EveryOperatorHasACaseOrAReason) {
  std::set<std::string> covered;
  for (const GoldenCase& c : GoldenCases()) testing::OperatorsOf(c.json, &covered);
  const auto excused = io::Json::ParseFile(kGoldenOps + "/excused.json");
  ASSERT_TRUE(excused.ok()) << excused.status().message();
  for (const ir::OpDef* op : ops::BuiltinOps().all()) {
    const bool has_case = covered.contains(std::string(op->name));
    const bool has_reason = excused->Find(op->name) != nullptr;
    EXPECT_TRUE(has_case || has_reason) << op->name << " has neither";
    EXPECT_FALSE(has_case && has_reason) << op->name << " needs no reason any more";
  }
  for (const io::Json::Member& reason : excused->members())
    EXPECT_TRUE(ops::BuiltinOps().Find(reason.key).ok()) << reason.key << " is no operator";
}

}  // namespace
}  // namespace rml::graph
