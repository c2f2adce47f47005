#include "rml/providers/onednn/provider.h"

#include "rml/ops/host_data.h"
#include "rml/providers/onednn/kernel_lists.h"

namespace rml::providers::onednn {

const ops::Provider& OneDnnProvider() {
  static const ops::Provider* const provider = [] {
    std::vector<ops::Kernel> kernels;
    for (const auto list :
         {MatmulKernels, ConvolutionKernels, LayerNormKernels, BatchNormKernels}) {
      for (const ops::Kernel& kernel : list()) kernels.push_back(kernel);
    }
    return new ops::TableProvider("onednn", std::move(kernels));
  }();
  return *provider;
}

ops::Kernel::Refusal WantsWholeF32(const ir::OpCall& call) {
  if (auto refusal = ops::WantsKnownSizes(call)) return refusal;
  for (int i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    if (call.dtype(i) != core::DType::kF32)
      return core::StrCat(call.input_name(i), " is ", core::Name(call.dtype(i)),
                          ", and it takes f32");
    if (call.input(i).dims.elements().value() == 0)
      return core::StrCat(call.input_name(i), " is empty, and it takes at least one element");
  }
  return std::nullopt;
}

}  // namespace rml::providers::onednn
