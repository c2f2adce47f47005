#include "rml/ops/check/conformance.h"

#include <algorithm>

#include "rml/core/testing/fake_device.h"
#include "rml/ops/check/checks.h"

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
  for (const auto check : {CheckInference, CheckAliases, CheckTrace, CheckSymbolic, CheckFused,
                           CheckTracedGradient, CheckSplits}) {
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
  if (provider == nullptr) return report;
  for (const Kernel& kernel : provider->Kernels(op.name)) {
    int ran = 0;
    checker.ForCases(cases,
                     [&](const OpCase& c) { return CheckKernel(c, *provider, kernel, &ran); });
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
