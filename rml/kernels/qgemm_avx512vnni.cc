// AVX-512 with VNNI: the tile of qgemm_tile-inl.h in one vector of 16 rows. A step multiplies and
// adds in 32 bits, so nothing can overflow and codes of Q8_0 need no planes.
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "rml/kernels/qgemm_table.h"
#include "rml/kernels/qgemv_avx2.h"

namespace rml::kernels {
namespace {

struct Ops {
  using Int = __m512i;
  using Float = __m512;
  static constexpr int kVectors = 1;
  static constexpr int kTile = 8;

  static Int Load(const void* p) { return _mm512_load_si512(static_cast<const __m512i*>(p)); }
  static Int BroadcastWord(const void* p) {
    int word;
    memcpy(&word, p, sizeof(word));
    return _mm512_set1_epi32(word);
  }
  static Int ZeroInt() { return _mm512_setzero_si512(); }
  static Int Set16(short value) { return _mm512_set1_epi16(value); }
  static Int First(Int w, Int x) { return Next(ZeroInt(), w, x); }
  static Int Next(Int sum, Int w, Int x) { return _mm512_dpbusd_epi32(sum, w, x); }
  static Int Close(Int sum) { return sum; }
  static Int CloseScaled(Int sum, Int scale) {
    return _mm512_mullo_epi32(sum, _mm512_srai_epi32(scale, 16));
  }
  static Int PairSum(Int a, Int b) { return _mm512_madd_epi16(a, b); }
  static Int Add32(Int a, Int b) { return _mm512_add_epi32(a, b); }

  static Float ZeroFloat() { return _mm512_setzero_ps(); }
  static Float LoadFloat(const float* p) { return _mm512_load_ps(p); }
  static void StoreFloat(float* p, Float v) { _mm512_store_ps(p, v); }
  static Float BroadcastFloat(const float* p) { return _mm512_set1_ps(*p); }
  static Float ToFloat(Int v) { return _mm512_cvtepi32_ps(v); }
  static Float Mul(Float a, Float b) { return _mm512_mul_ps(a, b); }
  static Float MulAdd(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
  static Float MulSub(Float a, Float b, Float c) { return _mm512_fnmadd_ps(a, b, c); }
};

}  // namespace
}  // namespace rml::kernels

#include "rml/kernels/qgemm_tile-inl.h"

namespace rml::kernels {

const QuantKernels kQuantKernelsAvx512Vnni = {
    .quantize32 = avx2::Quantize32,
    .quantize256 = avx2::Quantize256,
    .q4_0 = {avx2::GemvQ4_0, avx2::UnpackQ4_0, Gemm32<8, 1>},
    .q4_1 = {avx2::GemvQ4_1, avx2::UnpackQ4_1, Gemm32<8, 1>},
    .q5_0 = {avx2::GemvQ5_0, avx2::UnpackQ5_0, Gemm32<8, 1>},
    .q5_1 = {avx2::GemvQ5_1, avx2::UnpackQ5_1, Gemm32<8, 1>},
    .q8_0 = {avx2::GemvQ8_0, avx2::UnpackQ8_0Whole, Gemm32<8, 1>},
    .q4_k = {avx2::GemvQ4_K, avx2::UnpackQ4_K, Gemm256<8, 8>},
    .q5_k = {avx2::GemvQ5_K, avx2::UnpackQ5_K, Gemm256<8, 8>},
    .q6_k = {avx2::GemvQ6_K, avx2::UnpackQ6_K, Gemm256<4, 16>},
};

}  // namespace rml::kernels
