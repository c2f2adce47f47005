// The lists of kernels that make the provider, one for each file that holds them, and what they
// share. Internal.
#pragma once

#include <vector>

#include "rml/ops/provider.h"

namespace rml::providers::onednn {

std::vector<ops::Kernel> MatmulKernels();
std::vector<ops::Kernel> ConvolutionKernels();
std::vector<ops::Kernel> LayerNormKernels();
std::vector<ops::Kernel> BatchNormKernels();

// What every kernel here wants: known sizes, f32 throughout, and something to compute.
ops::Kernel::Refusal WantsWholeF32(const ir::OpCall& call);

// Operations that are worth handing to another thread.
inline constexpr int64_t kOperationsPerTile = int64_t{1} << 22;

}  // namespace rml::providers::onednn
