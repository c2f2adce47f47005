// Finds quantised kernels: the table of an ISA level, and in it the row of a dtype.
#pragma once

#include "rml/core/dtype.h"
#include "rml/kernels/isa.h"
#include "rml/kernels/qgemm_table.h"

namespace rml::kernels {

// `isa` must be supported.
const QuantKernels& QuantKernelsFor(Isa isa);

// The row for a dtype; null when the dtype belongs to the other kind.
const Kernels32* Find32(const QuantKernels& kernels, core::DType dtype);
const Kernels256* Find256(const QuantKernels& kernels, core::DType dtype);

}  // namespace rml::kernels
