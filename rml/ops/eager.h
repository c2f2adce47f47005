// EagerBuilder: every call computes at once. In gradient mode, calls on values that require
// gradients leave tape nodes behind (rml/ir/tape.h).
#pragma once

#include <memory>

#include "rml/core/run_context.h"
#include "rml/ir/builder.h"
#include "rml/ops/provider.h"
#include "rml/ops/registry.h"

namespace rml::ops {

class EagerBuilder final : public ir::Builder {
 public:
  // All must outlive the builder. `providers` in the order of asking. Results are allocated by the
  // context's allocator, on whose device every input must be.
  EagerBuilder(const core::RunContext& context, ProviderList providers,
               const ir::OpSource& operators);
  ~EagerBuilder() override;

  core::Expected<ir::Values> Call(const ir::OpDef& op, std::span<const ir::Value> inputs,
                                  const ir::Attributes& attributes) override;
  core::Expected<ir::Value> Constant(core::Tensor tensor) override;
  core::Allocator& allocator() override { return context_.GetAllocator(); }
  const ir::OpSource& operators() const override { return operators_; }
  const core::RunContext& context() const { return context_; }

 private:
  struct Plan;
  struct Cache;
  using Outputs = core::InlineVector<core::Tensor, 2>;

  core::Expected<std::shared_ptr<const Plan>> PlanOf(const ir::OpDef& op,
                                                     std::span<const ir::Value> inputs,
                                                     const ir::Attributes& attributes);
  core::Expected<std::shared_ptr<const Plan>> MakePlan(const ir::OpDef& op,
                                                       std::span<const ir::Value> inputs,
                                                       const ir::Attributes& attributes);
  core::Status Compute(const Plan& plan, std::span<const core::Tensor* const> inputs,
                       Outputs* outputs);

  const core::RunContext& context_;
  ProviderList providers_;
  const ir::OpSource& operators_;
  std::unique_ptr<Cache> cache_;  // of plans, by signature
};

}  // namespace rml::ops
