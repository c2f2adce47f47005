// Loops that keep one instruction of an ISA busy; each returns a value so that none is left out.
// Internal to limits*.cc.
#pragma once

#include <stdint.h>

namespace rml::kernels {

// Sixteen independent sums a step, in registers; `kDotLanes` products of a pair (of four bytes) a
// sum.
inline constexpr int kDotSums = 16;
inline constexpr int kDotLanes = 16;
float DotBf16Avx512(int64_t steps);
int32_t DotInt8Avx512(int64_t steps);

}  // namespace rml::kernels
