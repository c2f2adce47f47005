// SIMDe's AVX-512 under the names of the intrinsics, with what version 0.7.4 lacks. Include after
// <immintrin.h> and before the source to emulate.
#pragma once

#include <immintrin.h>

#define SIMDE_ENABLE_NATIVE_ALIASES
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <simde/x86/avx512.h>

#undef _mm512_madd_epi16  // the alias has the parameters of the masked form
#define _mm512_madd_epi16(a, b) simde_mm512_madd_epi16(a, b)

namespace {  // NOLINT(google-build-namespaces)
inline simde__m512 EmulatedConvert(simde__m512i v) {
  int32_t in[16];
  float out[16];
  simde_mm512_storeu_si512(in, v);
  for (int i = 0; i < 16; ++i) out[i] = static_cast<float>(in[i]);
  return simde_mm512_loadu_ps(out);
}
inline simde__m512i EmulatedShiftRight(simde__m512i v, int count) {
  int32_t lanes[16];
  simde_mm512_storeu_si512(lanes, v);
  for (int32_t& lane : lanes) lane >>= count;
  return simde_mm512_loadu_si512(lanes);
}
}  // namespace
#undef _mm512_srai_epi32
#define _mm512_srai_epi32(a, count) EmulatedShiftRight(a, count)
#undef _mm512_cvtepi32_ps
#define _mm512_cvtepi32_ps(a) EmulatedConvert(a)
