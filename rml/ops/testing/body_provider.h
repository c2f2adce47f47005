// BodyProvider, for tests: an accelerator that owns its memory and takes nothing but whole `fused`
// bodies, as a compiler for a device would (a PJRT plugin). It shows that such a provider is a
// table of one kernel, and that nothing else needs to know.
#pragma once

#include <span>
#include <vector>

#include "rml/core/testing/fake_device.h"
#include "rml/ops/provider.h"

namespace rml::ops::testing {

class BodyProvider final : public Provider {
 public:
  // Memory that traps on host access; values for its calls must be there.
  core::testing::FakeDevice& device() { return device_; }

  std::string_view name() const override { return "bodies"; }
  bool RunsOn(const core::Device& device) const override { return &device == &device_; }
  std::span<const Kernel> Kernels(std::string_view op) const override;
  std::vector<const Kernel*> AllKernels() const override;

 private:
  core::testing::FakeDevice device_;
};

}  // namespace rml::ops::testing
