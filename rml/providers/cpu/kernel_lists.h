// The lists of kernels that make the provider, one for each file that holds them. Internal.
#pragma once

#include <vector>

#include "rml/ops/provider.h"

namespace rml::providers::cpu {

std::vector<ops::Kernel> UnaryKernels();
std::vector<ops::Kernel> BinaryKernels();
std::vector<ops::Kernel> CopyKernels();
std::vector<ops::Kernel> MatmulKernels();
std::vector<ops::Kernel> SoftmaxKernels();
std::vector<ops::Kernel> SumKernels();

// Elements that are worth handing to another thread.
inline constexpr int64_t kElementsPerChunk = 16384;

}  // namespace rml::providers::cpu
