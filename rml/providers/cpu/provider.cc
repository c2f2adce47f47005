#include "rml/providers/cpu/provider.h"

#include "rml/providers/cpu/kernel_lists.h"

namespace rml::providers::cpu {

const ops::Provider& CpuProvider() {
  static const ops::Provider* const provider = [] {
    std::vector<ops::Kernel> kernels;
    for (const auto list :
         {UnaryKernels, BinaryKernels, CopyKernels, MatmulKernels, SoftmaxKernels, SumKernels}) {
      for (const ops::Kernel& kernel : list()) kernels.push_back(kernel);
    }
    return new ops::TableProvider("cpu", std::move(kernels));
  }();
  return *provider;
}

}  // namespace rml::providers::cpu
