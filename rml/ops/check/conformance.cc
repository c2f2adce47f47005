#include "rml/ops/check/conformance.h"

#include <algorithm>

#include "rml/core/testing/fake_device.h"
#include "rml/ops/check/checks.h"
#include "rml/ops/reference.h"

namespace rml::ops {

using core::Status;
using core::StrCat;

namespace {

class Checker {
 public:
  explicit Checker(ConformanceReport* report) : report_(*report) {}

  template <typename Check>
  void ForCases(const core::Expected<std::vector<OpCase>>& cases, Check&& check) {
    if (!cases.ok()) return Note(cases.status());
    for (const OpCase& c : *cases) Note(check(c));
  }

  void Note(const Status& status) {
    ++report_.checks;
    if (!status.ok()) report_.failures.emplace_back(status.message());
  }

 private:
  ConformanceReport& report_;
};

void CheckDefinition(const ir::OpDef& op, const core::Expected<std::vector<OpCase>>& cases,
                     Checker* checker) {
  for (const auto check : {CheckInference, CheckAliases, CheckTrace, CheckRoundTrip, CheckSymbolic,
                           CheckFused, CheckTracedGradient, CheckSplits}) {
    checker->ForCases(cases, check);
  }
  core::testing::FakeDevice device;
  checker->ForCases(cases, [&](const OpCase& c) { return CheckDevice(c, device); });
  const auto smooth = GradientCasesOf(op);
  checker->ForCases(smooth, [](const OpCase& c) { return CheckGradient(c, false); });
  checker->ForCases(smooth, [](const OpCase& c) { return CheckGradient(c, true); });
  checker->ForCases(smooth, CheckDecomposedGradient);
}

}  // namespace

ConformanceReport CheckConformance(const ir::OpDef& op, const Provider* provider,
                                   const ConformanceOptions& options) {
  ConformanceReport report;
  report.op = op.name;
  Checker checker(&report);
  const auto cases = CasesOf(op, options.quick);
  if (options.definition) CheckDefinition(op, cases, &checker);
  if (provider == nullptr || !cases.ok()) return report;
  const std::vector<Way> ways = KernelWays(options.quick);
  for (const Kernel& kernel : provider->Kernels(op.name)) {
    int ran = 0;
    const auto check = [&](const OpCase& c) {
      checker.Note(CheckKernel(c, *provider, kernel, ways, &ran));
    };
    for (const OpCase& c : *cases) {
      check(c);
      // The reference has one loop for any size.
      if (options.quick || provider == &ReferenceProvider()) continue;
      const auto grown = GrownCase(c);
      if (!grown.ok()) checker.Note(grown.status());
      if (grown.ok() && *grown) check(**grown);
    }
    if (ran > 0) {
      report.kernels.emplace_back(kernel.name);
    } else {
      report.failures.push_back(
          StrCat(op.name, ": no case ran for the kernel ", provider->name(), " ", kernel.name));
    }
  }
  return report;
}

}  // namespace rml::ops
