// Every operator through every check, quickly: the full product is `rml ops check`.
#include <gtest/gtest.h>

#include "rml/core/testing/fake_device.h"
#include "rml/ops/check/checks.h"
#include "rml/ops/reference.h"
#include "rml/ops/registry.h"

namespace rml::ops {
namespace {

class EveryOp : public ::testing::TestWithParam<const ir::OpDef*> {
 protected:
  static std::vector<OpCase> Cases() {
    auto cases = CasesOf(*GetParam(), true);
    EXPECT_TRUE(cases.ok()) << cases.status().message();
    return cases.ok() ? *std::move(cases) : std::vector<OpCase>();
  }
  static std::vector<OpCase> GradientCases() {
    auto cases = GradientCasesOf(*GetParam());
    EXPECT_TRUE(cases.ok()) << cases.status().message();
    return cases.ok() ? *std::move(cases) : std::vector<OpCase>();
  }
  template <typename Check>
  static void ForCases(const std::vector<OpCase>& cases, Check check) {
    for (const OpCase& c : cases) {
      const core::Status status = check(c);
      EXPECT_TRUE(status.ok()) << status.message();
    }
  }
};

TEST_P(EveryOp, InfersWhatComesOut) { ForCases(Cases(), CheckInference); }

TEST_P(EveryOp, ReferenceIsTheSameForAnyStridesAndThreads) {
  const Kernel& kernel = ReferenceProvider().Kernels(GetParam()->name)[0];
  const std::vector<Way> ways = KernelWays(true);
  ForCases(Cases(), [&](const OpCase& c) {
    return CheckKernel(c, ReferenceProvider(), kernel, ways, nullptr);
  });
}

TEST_P(EveryOp, AliasesReallyAlias) { ForCases(Cases(), CheckAliases); }

TEST_P(EveryOp, GradientIsThatOfFiniteDifferences) {
  ForCases(GradientCases(), [](const OpCase& c) { return CheckGradient(c, false); });
}

TEST_P(EveryOp, SecondGradientIsThatOfFiniteDifferences) {
  ForCases(GradientCases(), [](const OpCase& c) { return CheckGradient(c, true); });
}

TEST_P(EveryOp, OwnGradientIsTheDecompositions) {
  ForCases(GradientCases(), CheckDecomposedGradient);
}

TEST_P(EveryOp, TracedIsEager) { ForCases(Cases(), CheckTrace); }
TEST_P(EveryOp, SurvivesAFile) { ForCases(Cases(), CheckRoundTrip); }
TEST_P(EveryOp, SymbolicDimensionsAreFilledIn) { ForCases(Cases(), CheckSymbolic); }
TEST_P(EveryOp, FusedIsTheSame) { ForCases(Cases(), CheckFused); }
TEST_P(EveryOp, GradientByTraceIsGradientByEager) { ForCases(Cases(), CheckTracedGradient); }
TEST_P(EveryOp, SplitsMergeToTheWhole) { ForCases(Cases(), CheckSplits); }

TEST_P(EveryOp, RunsOnADeviceWhoseMemoryTraps) {
  core::testing::FakeDevice device;
  ForCases(Cases(), [&](const OpCase& c) { return CheckDevice(c, device); });
}

INSTANTIATE_TEST_SUITE_P(Builtin, EveryOp,
                         ::testing::ValuesIn(BuiltinOps().all().begin(), BuiltinOps().all().end()),
                         [](const auto& op) { return std::string(op.param->name); });

}  // namespace
}  // namespace rml::ops
