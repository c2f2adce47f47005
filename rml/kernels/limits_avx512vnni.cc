#include <immintrin.h>

#include "rml/kernels/limits_loops.h"

namespace rml::kernels {

int32_t DotInt8Avx512(int64_t steps) {
  __m512i sums[kDotSums];
  // Each starts elsewhere: the compiler would make one of sums that are equal.
  for (int s = 0; s < kDotSums; ++s) sums[s] = _mm512_set1_epi32(s);
  const __m512i a = _mm512_set1_epi32(0x01010101);
  __m512i b = _mm512_set1_epi32(0x01000100);
  for (int64_t i = 0; i < steps; ++i) {
    __asm__ volatile("" : "+v"(b));
#pragma GCC unroll 16
    for (int s = 0; s < kDotSums; ++s) sums[s] = _mm512_dpbusd_epi32(sums[s], a, b);
  }
  __m512i all = sums[0];
  for (int s = 1; s < kDotSums; ++s) all = _mm512_add_epi32(all, sums[s]);
  int32_t lanes[kDotLanes];
  _mm512_storeu_si512(lanes, all);
  return lanes[0];
}

}  // namespace rml::kernels
