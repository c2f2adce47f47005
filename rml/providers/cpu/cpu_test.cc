// Every kernel of the provider against the definitions; one for which no case ran is a fault.
#include <gtest/gtest.h>

#include "rml/ops/check/conformance.h"
#include "rml/ops/registry.h"
#include "rml/providers/cpu/provider.h"

namespace rml::providers::cpu {
namespace {

TEST(CpuProvider, EveryKernelAgreesWithTheReference) {
  for (const ir::OpDef* op : ops::BuiltinOps().all()) {
    const auto report =
        ops::CheckConformance(*op, &CpuProvider(), {.quick = true, .definition = false});
    for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
  }
}

TEST(CpuProvider, HasKernelsOnlyForOperatorsThatExist) {
  for (const ops::Kernel* kernel : CpuProvider().AllKernels()) {
    EXPECT_TRUE(ops::BuiltinOps().Find(kernel->op).ok()) << kernel->op;
  }
}

}  // namespace
}  // namespace rml::providers::cpu
