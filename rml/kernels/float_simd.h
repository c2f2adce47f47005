// Which Highway targets the float kernels are compiled for, and how one is chosen at run time: by
// ActiveIsa(), so that RML_ISA governs these kernels as it does the others. Include this first in a
// .cc that includes hwy/foreach_target.h; nothing else may include it.
//
// x86: SSE4 (the baseline, x86-64-v2), AVX2 and AVX-512 (Highway's AVX3). ARM: NEON.
#pragma once

// x86-64-v2 has no AES, without which Highway would take SSSE3 for the baseline; we use none.
#define HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#include <cstddef>
#include <cstdint>

#include "hwy/targets.h"
#include "rml/kernels/isa.h"

namespace rml::kernels {

// The place of ActiveIsa()'s target in a table that HWY_EXPORT makes; the last one is the baseline.
inline size_t SimdTableIndex() {
  constexpr size_t kBaselineIndex = HWY_MAX_DYNAMIC_TARGETS + 1;
  int64_t target = 0;
  switch (ActiveIsa()) {
    case Isa::kBaseline:
      return kBaselineIndex;
    case Isa::kAvx2:
      target = HWY_AVX2;
      break;
    case Isa::kAvx512:
    case Isa::kAvx512Vnni:
    case Isa::kAvx512Bf16:
      target = HWY_AVX3;
      break;
    case Isa::kNeon:
      target = HWY_NEON;
      break;
  }
  if ((target & HWY_TARGETS) == 0) return kBaselineIndex;
  const auto mask = static_cast<uint64_t>(HWY_CHOSEN_TARGET_SHIFT(target));
  return static_cast<size_t>(__builtin_ctzll(mask));
}

}  // namespace rml::kernels

// RML_SIMD_CALL(Function)(arguments) calls the variant of Function, named in HWY_EXPORT, for the
// active level.
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
#define RML_SIMD_CALL(function) HWY_STATIC_DISPATCH(function)
#else
#define RML_SIMD_CALL(function) (*(HWY_DISPATCH_TABLE(function)[::rml::kernels::SimdTableIndex()]))
#endif

// Loops over arrays of vectors have to vanish for the vectors to live in registers. Not so where
// every access is instrumented: there the code would only take minutes to compile.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RML_UNROLL
#else
#define RML_UNROLL _Pragma("GCC unroll 32")
#endif
