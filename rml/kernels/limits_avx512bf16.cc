#include <immintrin.h>

#include "rml/kernels/limits_loops.h"

namespace rml::kernels {

float DotBf16Avx512(int64_t steps) {
  __m512 sums[kDotSums];
  // Each starts elsewhere: the compiler would make one of sums that are equal.
  for (int s = 0; s < kDotSums; ++s) sums[s] = _mm512_set1_ps((float)s);
  const __m512bh a = (__m512bh)_mm512_set1_epi32(0x3f803f80);  // ones
  __m512bh b = (__m512bh)_mm512_set1_epi32(0x3f003f00);        // halves
  for (int64_t i = 0; i < steps; ++i) {
    __asm__ volatile("" : "+v"(b));  // not the same product each time
#pragma GCC unroll 16
    for (int s = 0; s < kDotSums; ++s) sums[s] = _mm512_dpbf16_ps(sums[s], a, b);
  }
  __m512 all = sums[0];
  for (int s = 1; s < kDotSums; ++s) all = _mm512_add_ps(all, sums[s]);
  float lanes[kDotLanes];
  _mm512_storeu_ps(lanes, all);
  return lanes[0];
}

}  // namespace rml::kernels
