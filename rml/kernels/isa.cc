#include "rml/kernels/isa.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "rml/core/check.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rml::kernels {

namespace {

constexpr std::array<std::string_view, kIsaCount> kNames = {"baseline",   "avx2",       "avx512",
                                                            "avx512vnni", "avx512bf16", "neon"};

#if defined(__x86_64__)

struct CpuidResult {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

CpuidResult Cpuid(uint32_t leaf, uint32_t subleaf) {
  CpuidResult r;
  if (__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

constexpr bool Bit(uint32_t word, int bit) { return ((word >> bit) & 1u) != 0; }

// Register state that the operating system saves (XCR0). Only valid when CPUID says OSXSAVE.
uint64_t SavedState() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

// Intel SDM volume 1, 14.3 (AVX), 15.2 (AVX-512): the feature bits, and the state bits in XCR0.
Isa Detect() {
  constexpr uint64_t kYmmState = 0x6;   // XMM and the upper halves of YMM
  constexpr uint64_t kZmmState = 0xe6;  // and opmask, upper ZMM, ZMM16-31

  const CpuidResult leaf1 = Cpuid(1, 0);
  const bool os_xsave = Bit(leaf1.ecx, 27);
  const uint64_t state = os_xsave ? SavedState() : 0;
  const CpuidResult leaf7 = Cpuid(7, 0);

  const bool fma = Bit(leaf1.ecx, 12);
  const bool avx = Bit(leaf1.ecx, 28);
  const bool f16c = Bit(leaf1.ecx, 29);
  const bool bmi1 = Bit(leaf7.ebx, 3);
  const bool avx2 = Bit(leaf7.ebx, 5);
  const bool bmi2 = Bit(leaf7.ebx, 8);
  if (!(fma && avx && f16c && bmi1 && avx2 && bmi2) || (state & kYmmState) != kYmmState) {
    return Isa::kBaseline;
  }

  const bool f = Bit(leaf7.ebx, 16);
  const bool dq = Bit(leaf7.ebx, 17);
  const bool cd = Bit(leaf7.ebx, 28);
  const bool bw = Bit(leaf7.ebx, 30);
  const bool vl = Bit(leaf7.ebx, 31);
  if (!(f && dq && cd && bw && vl) || (state & kZmmState) != kZmmState) return Isa::kAvx2;
  if (!Bit(leaf7.ecx, 11)) return Isa::kAvx512;           // AVX512_VNNI
  if (!Bit(Cpuid(7, 1).eax, 5)) return Isa::kAvx512Vnni;  // AVX512_BF16
  return Isa::kAvx512Bf16;
}

#elif defined(__aarch64__)
Isa Detect() { return Isa::kNeon; }  // part of the ABI
#else
Isa Detect() { return Isa::kBaseline; }
#endif

struct SupportedList {
  std::array<Isa, kIsaCount> levels{};
  size_t count = 0;
};

SupportedList MakeSupported() {
  SupportedList list;
  const Isa best = Detect();
  if (best == Isa::kNeon) {
    list.levels = {Isa::kBaseline, Isa::kNeon};
    list.count = 2;
    return list;
  }
  for (int i = 0; i <= static_cast<int>(best); ++i) list.levels[list.count++] = static_cast<Isa>(i);
  return list;
}

Isa DecideOnce() {
  const core::Expected<Isa> resolved = ResolveIsa();
  if (resolved.ok()) return *resolved;
  const Isa best = SupportedIsas().back();
  const std::string message(resolved.error().message());
  std::fprintf(stderr, "error: %s (using %s)\n", message.c_str(), IsaName(best).data());
  return best;
}

constexpr int kNoOverride = -1;
std::atomic<int> g_override{kNoOverride};

}  // namespace

std::string_view IsaName(Isa isa) { return kNames[static_cast<size_t>(isa)]; }

std::span<const Isa> SupportedIsas() {
  static const SupportedList list = MakeSupported();
  return {list.levels.data(), list.count};
}

bool IsSupported(Isa isa) {
  for (const Isa level : SupportedIsas()) {
    if (level == isa) return true;
  }
  return false;
}

core::Expected<Isa> ResolveIsa(std::string_view requested) {
  if (requested.empty()) return SupportedIsas().back();
  for (int i = 0; i < kIsaCount; ++i) {
    if (kNames[static_cast<size_t>(i)] != requested) continue;
    const Isa isa = static_cast<Isa>(i);
    if (IsSupported(isa)) return isa;
    return core::Unsupported("RML_ISA=", requested, ": this machine goes up to ",
                             IsaName(SupportedIsas().back()), "; unset it or name a lower level");
  }
  return core::InvalidArgument("RML_ISA=", requested,
                               ": not a level; one of baseline, avx2, avx512, avx512vnni, "
                               "avx512bf16, neon");
}

core::Expected<Isa> ResolveIsa() {
  const char* value = std::getenv("RML_ISA");
  return ResolveIsa(value == nullptr ? std::string_view() : std::string_view(value));
}

Isa ActiveIsa() {
  const int forced = g_override.load(std::memory_order_relaxed);
  if (forced != kNoOverride) return static_cast<Isa>(forced);
  static const Isa decided = DecideOnce();
  return decided;
}

ScopedIsa::ScopedIsa(Isa isa) : previous_(g_override.load()) {
  RML_CHECK(IsSupported(isa));
  g_override.store(static_cast<int>(isa));
}

ScopedIsa::~ScopedIsa() { g_override.store(previous_); }

}  // namespace rml::kernels
