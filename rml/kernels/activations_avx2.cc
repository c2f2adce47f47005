// AVX2: rounding activations to 8-bit codes.
#include "rml/kernels/qgemm_codes_avx2.h"
#include "rml/kernels/qgemv_avx2.h"

namespace rml::kernels::avx2 {

namespace {

inline int8_t* CodesAt(int8_t* codes, int64_t cols, int64_t i, int64_t m, int64_t col) {
  const int64_t chunk = col / kChunkCols * kChunkCols;
  const int64_t width = cols - chunk < kChunkCols ? cols - chunk : kChunkCols;
  return codes + chunk * m + i * width + (col - chunk);
}

// Magnitudes are compared as integers, an order in which not-a-number is the largest: so it reaches
// the block's scale, and through it the result.
inline __m256i Magnitude(const float* x) {
  return _mm256_and_si256(Load256(x), _mm256_set1_epi32(0x7fffffff));
}

inline __m256i MaxMagnitude32(const float* x) {
  return _mm256_max_epi32(_mm256_max_epi32(Magnitude(x), Magnitude(x + 8)),
                          _mm256_max_epi32(Magnitude(x + 16), Magnitude(x + 24)));
}

inline float HorizontalMax(__m256i v) {
  const __m128i four = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  const __m128i one = _mm_max_epi32(two, _mm_shuffle_epi32(two, 0xb1));
  return _mm_cvtss_f32(_mm_castsi128_ps(one));
}

// 32 codes, in order.
inline __m256i Round32(const float* x, __m256 inverse) {
  const __m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), inverse));
  const __m256i b = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 8), inverse));
  const __m256i c = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 16), inverse));
  const __m256i d = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 24), inverse));
  // Packing works within halves: dwords come out as a0 b0 c0 d0 a1 b1 c1 d1.
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

// Sums of 16 codes: of the first 16 in elements 0-3, of the others in elements 4-7.
inline __m256i QuarterSums(__m256i codes) {
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), codes);
  return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

inline int SumOf4(__m128i v) {
  const __m128i two = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

}  // namespace

void Quantize32(const float* x, int64_t cols, int64_t i, int64_t m, const Activations32& out) {
  for (int64_t b = 0; b < cols / 32; ++b) {
    const float max = HorizontalMax(MaxMagnitude32(x + 32 * b));
    const float inverse = max > 0 ? 127.0f / max : 0.0f;
    const float scale = max / 127.0f;
    const __m256i codes = Round32(x + 32 * b, _mm256_set1_ps(inverse));
    Store256(CodesAt(out.codes, cols, i, m, 32 * b), codes);
    const __m256i sums = QuarterSums(codes);
    const int sum =
        SumOf4(_mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1)));
    out.scales[b * m + i] = scale;
    out.sums[b * m + i] = scale * static_cast<float>(sum);
  }
}

void Quantize256(const float* x, int64_t cols, int64_t i, int64_t m, const Activations256& out) {
  for (int64_t b = 0; b < cols / 256; ++b) {
    __m256i maxima = MaxMagnitude32(x + 256 * b);
    for (int g = 1; g < 8; ++g) {
      maxima = _mm256_max_epi32(maxima, MaxMagnitude32(x + 256 * b + 32 * g));
    }
    const float max = HorizontalMax(maxima);
    const float inverse = max > 0 ? 127.0f / max : 0.0f;
    int8_t* codes = CodesAt(out.codes, cols, i, m, 256 * b);
    int16_t* sums16 = out.sums16 + (b * m + i) * 16;
    int16_t* sums32 = out.sums32 + (b * m + i) * 8;
    for (int g = 0; g < 8; ++g) {
      const __m256i rounded = Round32(x + 256 * b + 32 * g, _mm256_set1_ps(inverse));
      Store256(codes + 32 * g, rounded);
      const __m256i sums = QuarterSums(rounded);
      const int low = SumOf4(_mm256_castsi256_si128(sums));
      const int high = SumOf4(_mm256_extracti128_si256(sums, 1));
      sums16[2 * g] = static_cast<int16_t>(low);
      sums16[2 * g + 1] = static_cast<int16_t>(high);
      sums32[g] = static_cast<int16_t>(low + high);
    }
    out.scales[b * m + i] = max / 127.0f;
  }
}

}  // namespace rml::kernels::avx2
