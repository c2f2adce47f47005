// Every kernel of the provider against the definitions; one for which no case ran is a fault.
#include <map>

#include <gtest/gtest.h>

#include "rml/ops/check/checks.h"
#include "rml/ops/registry.h"
#include "rml/providers/cpu/provider.h"

namespace rml::providers::cpu {
namespace {

TEST(CpuProvider, EveryKernelAgreesWithTheReference) {
  for (const ir::OpDef* op : ops::BuiltinOps().all()) {
    if (CpuProvider().Kernels(op->name).empty()) continue;
    const auto cases = ops::CasesOf(*op, true);
    ASSERT_TRUE(cases.ok()) << cases.status().message();
    int ran = 0;
    for (const ops::OpCase& c : *cases) {
      const core::Status status = ops::CheckProvider(c, CpuProvider(), &ran);
      EXPECT_TRUE(status.ok()) << status.message();
    }
    EXPECT_GE(ran, static_cast<int>(CpuProvider().Kernels(op->name).size())) << op->name;
  }
}

TEST(CpuProvider, HasKernelsOnlyForOperatorsThatExist) {
  for (const ops::Kernel* kernel : CpuProvider().AllKernels()) {
    EXPECT_TRUE(ops::BuiltinOps().Find(kernel->op).ok()) << kernel->op;
  }
}

}  // namespace
}  // namespace rml::providers::cpu
