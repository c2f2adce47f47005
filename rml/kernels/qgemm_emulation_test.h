// Kernel tables of ISA levels that few machines have, compiled from the same sources with SIMDe in
// the place of the intrinsics: their logic is tested everywhere. Null where SIMDe is not installed.
#pragma once

#include "rml/kernels/qgemm_table.h"

namespace rml::kernels {

const QuantKernels* EmulatedAvx512();
const QuantKernels* EmulatedAvx512Vnni();

}  // namespace rml::kernels
