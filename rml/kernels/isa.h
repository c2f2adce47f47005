// The instruction-set levels that kernels are written for, and the one that this process uses.
//
// The level is decided once, at the first call, from what the processor and the operating system
// offer; the environment variable RML_ISA forces a lower one by name. Code above the baseline lives
// in files named after their ISA, and runs only after dispatch on ActiveIsa().
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "rml/core/expected.h"

namespace rml::kernels {

// On x86 every level contains those before it; on 64-bit ARM there are the baseline and NEON.
enum class Isa : uint8_t {
  kBaseline,    // x86-64-v2 (SSE4.2, POPCNT), or portable C++ elsewhere
  kAvx2,        // AVX2, FMA, F16C, BMI2 (Haswell, Zen)
  kAvx512,      // AVX-512 F, BW, CD, DQ, VL (Skylake-X)
  kAvx512Vnni,  // and VNNI (Cascade Lake)
  kAvx512Bf16,  // and BF16 (Cooper Lake, Zen 4, Sapphire Rapids)
  kNeon,        // ARMv8 Advanced SIMD
};
inline constexpr int kIsaCount = static_cast<int>(Isa::kNeon) + 1;

// "baseline", "avx2", "avx512", "avx512vnni", "avx512bf16", "neon".
std::string_view IsaName(Isa isa);

// What this machine can run, from lowest to highest; never empty.
std::span<const Isa> SupportedIsas();
bool IsSupported(Isa isa);

// The level that RML_ISA asks for, or the highest one when it is unset or empty. An unknown name or
// a level that this machine lacks is an error; the command prints it and exits with 1.
core::Expected<Isa> ResolveIsa();
// The same, from the text of the variable.
core::Expected<Isa> ResolveIsa(std::string_view requested);

// The level in use. A bad RML_ISA is reported once on stderr and the highest level is used:
// programs call ResolveIsa() first.
Isa ActiveIsa();

// Makes ActiveIsa() answer `isa` (which must be supported) while it lives. Tests and
// checks run every supported level in one process with it. Not for use while other threads
// compute.
class ScopedIsa {
 public:
  explicit ScopedIsa(Isa isa);
  ~ScopedIsa();
  ScopedIsa(const ScopedIsa&) = delete;
  ScopedIsa& operator=(const ScopedIsa&) = delete;

 private:
  int previous_;
};

}  // namespace rml::kernels
