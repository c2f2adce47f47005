// The cpu provider: our kernels for the host, and the default. What it does not accept falls to the
// reference provider, which should follow it in every list.
#pragma once

#include "rml/ops/provider.h"

namespace rml::providers::cpu {

const ops::Provider& CpuProvider();

}  // namespace rml::providers::cpu
