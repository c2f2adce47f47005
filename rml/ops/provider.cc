#include "rml/ops/provider.h"

#include <algorithm>

namespace rml::ops {

using core::Expected;
using core::StrCat;

TableProvider::TableProvider(std::string_view name, std::vector<Kernel> kernels)
    : name_(name), kernels_(std::move(kernels)) {
  std::ranges::stable_sort(kernels_, {}, &Kernel::op);
}

bool TableProvider::RunsOn(const core::Device& device) const { return &device == &core::Cpu(); }

std::span<const Kernel> TableProvider::Kernels(std::string_view op) const {
  const auto found = std::ranges::equal_range(kernels_, op, {}, &Kernel::op);
  return {found.begin(), found.end()};
}

std::vector<const Kernel*> TableProvider::AllKernels() const {
  std::vector<const Kernel*> all;
  for (const Kernel& kernel : kernels_) all.push_back(&kernel);
  return all;
}

std::vector<Verdict> ExplainChoice(const ProviderList& providers, const ir::OpCall& call,
                                   const core::Device& device) {
  std::vector<Verdict> verdicts;
  for (const Provider* provider : providers) {
    const bool here = provider->RunsOn(device);
    for (const Kernel& kernel : provider->Kernels(call.op().name)) {
      Verdict& verdict = verdicts.emplace_back();
      verdict.choice = {provider, &kernel};
      if (!here) {
        verdict.refusal = StrCat("it does not run on ", device.name());
      } else if (kernel.accepts != nullptr) {
        verdict.refusal = kernel.accepts(call);
      }
    }
  }
  return verdicts;
}

Expected<Choice> ChooseKernel(const ProviderList& providers, const ir::OpCall& call,
                              const core::Device& device) {
  for (const Provider* provider : providers) {
    if (!provider->RunsOn(device)) continue;
    for (const Kernel& kernel : provider->Kernels(call.op().name)) {
      if (kernel.accepts == nullptr || !kernel.accepts(call)) return Choice{provider, &kernel};
    }
  }
  std::string reasons;
  for (const Verdict& verdict : ExplainChoice(providers, call, device)) {
    reasons += StrCat(reasons.empty() ? "" : "; ", verdict.choice.provider->name(), " ",
                      verdict.choice.kernel->name, ": ", verdict.refusal.value_or("accepts"));
  }
  return core::Unsupported(call.op().name, ": no kernel takes this call on ", device.name(),
                           reasons.empty() ? "" : " (", reasons, reasons.empty() ? "" : ")");
}

}  // namespace rml::ops
