// AVX2: the tile of qgemm_tile-inl.h in two vectors of eight rows, and the table.
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "rml/kernels/qgemm_table.h"
#include "rml/kernels/qgemv_avx2.h"

namespace rml::kernels {
namespace {

struct Ops {
  using Int = __m256i;
  using Float = __m256;
  static constexpr int kVectors = 2;
  static constexpr int kTile = 4;

  static Int Load(const void* p) { return _mm256_load_si256(static_cast<const __m256i*>(p)); }
  static Int BroadcastWord(const void* p) {
    int word;
    memcpy(&word, p, sizeof(word));
    return _mm256_set1_epi32(word);
  }
  static Int ZeroInt() { return _mm256_setzero_si256(); }
  static Int Set16(short value) { return _mm256_set1_epi16(value); }
  static Int First(Int w, Int x) { return _mm256_maddubs_epi16(w, x); }
  static Int Next(Int sum, Int w, Int x) {
    return _mm256_add_epi16(sum, _mm256_maddubs_epi16(w, x));
  }
  static Int Close(Int sum) { return _mm256_madd_epi16(sum, _mm256_set1_epi16(1)); }
  static Int CloseScaled(Int sum, Int scale) { return _mm256_madd_epi16(sum, scale); }
  static Int PairSum(Int a, Int b) { return _mm256_madd_epi16(a, b); }
  static Int Add32(Int a, Int b) { return _mm256_add_epi32(a, b); }

  static Float ZeroFloat() { return _mm256_setzero_ps(); }
  static Float LoadFloat(const float* p) { return _mm256_load_ps(p); }
  static void StoreFloat(float* p, Float v) { _mm256_store_ps(p, v); }
  static Float BroadcastFloat(const float* p) { return _mm256_broadcast_ss(p); }
  static Float ToFloat(Int v) { return _mm256_cvtepi32_ps(v); }
  static Float Mul(Float a, Float b) { return _mm256_mul_ps(a, b); }
  static Float MulAdd(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
  static Float MulSub(Float a, Float b, Float c) { return _mm256_fnmadd_ps(a, b, c); }
};

}  // namespace
}  // namespace rml::kernels

#include "rml/kernels/qgemm_tile-inl.h"

namespace rml::kernels {

const QuantKernels kQuantKernelsAvx2 = {
    .quantize32 = avx2::Quantize32,
    .quantize256 = avx2::Quantize256,
    .q4_0 = {avx2::GemvQ4_0, avx2::UnpackQ4_0, Gemm32<8, 1>},
    .q4_1 = {avx2::GemvQ4_1, avx2::UnpackQ4_1, Gemm32<8, 1>},
    .q5_0 = {avx2::GemvQ5_0, avx2::UnpackQ5_0, Gemm32<4, 1>},
    .q5_1 = {avx2::GemvQ5_1, avx2::UnpackQ5_1, Gemm32<4, 1>},
    .q8_0 = {avx2::GemvQ8_0, avx2::UnpackQ8_0, Gemm32<8, 2>},
    .q4_k = {avx2::GemvQ4_K, avx2::UnpackQ4_K, Gemm256<8, 8>},
    .q5_k = {avx2::GemvQ5_K, avx2::UnpackQ5_K, Gemm256<4, 8>},
    .q6_k = {avx2::GemvQ6_K, avx2::UnpackQ6_K, Gemm256<2, 16>},
};

}  // namespace rml::kernels
