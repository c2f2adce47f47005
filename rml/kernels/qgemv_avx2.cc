// AVX2: products of quantised rows with one row of activations. A row is one stream of bytes read
// once; the aim is to keep up with memory. Products are sums of (unsigned code) × (signed code) in
// 16 bits, widened to 32, scaled to f32 per block; offsets and minima multiply the blocks' sums of
// x.
#include "rml/kernels/qgemv_avx2.h"

#include "rml/kernels/qgemm_codes_avx2.h"

namespace rml::kernels::avx2 {

namespace {

// How far ahead of the reads a row's bytes are asked for.
constexpr int kPrefetchBytes = 1024;

inline void Put(float value, bool accumulate, float* y) { *y = accumulate ? *y + value : value; }

// Eight sums of four products each of one block, in 32 bits. Codes up to 127 cannot saturate.
template <typename Codes>
inline __m256i Products(const uint8_t* block, const int8_t* x) {
  const __m256i ones = _mm256_set1_epi16(1);
  const __m256i xs = Load256(x);
  if constexpr (Codes::kMaxCode == 255) {  // |w| ≤ 128 and |x| ≤ 127: pairs sum to at most 32512
    const __m256i w = Codes::LoadSigned(block);
    return _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(xs, w)),
                             ones);
  } else {
    return _mm256_madd_epi16(_mm256_maddubs_epi16(Codes::Load(block), xs), ones);
  }
}

// Eight half floats, `stride` bytes apart.
inline __m256 GatherHalves(const uint8_t* p, int stride) {
  const __m128i h = _mm_setr_epi16(
      static_cast<short>(LoadU16(p)), static_cast<short>(LoadU16(p + stride)),
      static_cast<short>(LoadU16(p + 2 * stride)), static_cast<short>(LoadU16(p + 3 * stride)),
      static_cast<short>(LoadU16(p + 4 * stride)), static_cast<short>(LoadU16(p + 5 * stride)),
      static_cast<short>(LoadU16(p + 6 * stride)), static_cast<short>(LoadU16(p + 7 * stride)));
  return _mm256_cvtph_ps(h);
}

template <typename Codes>
inline float Dot32(const uint8_t* w, int64_t blocks, const Activations32& x) {
  using Block = typename Codes::Block;
  constexpr int kBytes = sizeof(Block);
  constexpr bool kOffsets = Codes::kMaxCode != 255;  // Q8_0 is multiplied as signed
  __m256 acc0 = _mm256_setzero_ps();
  __m256 acc1 = _mm256_setzero_ps();
  __m256 offsets = _mm256_setzero_ps();  // Σ m · sums, or Σ d · sums where m is -kOffset d
  alignas(32) float scale[8];
  int64_t b = 0;
  for (; b + 8 <= blocks; b += 8) {
    const uint8_t* block = w + b * kBytes;
    const __m256 d = GatherHalves(block, kBytes);
    _mm256_store_ps(scale, _mm256_mul_ps(d, _mm256_loadu_ps(x.scales + b)));
    if constexpr (kOffsets) {
      __m256 m = d;
      if constexpr (Codes::kHasMin) m = GatherHalves(block + 2, kBytes);
      offsets = _mm256_fmadd_ps(m, _mm256_loadu_ps(x.sums + b), offsets);
    }
#pragma GCC unroll 4
    for (int j = 0; j < 8; j += 2) {
      _mm_prefetch(reinterpret_cast<const char*>(block + j * kBytes + kPrefetchBytes), _MM_HINT_T0);
      const __m256i p0 = Products<Codes>(block + j * kBytes, x.codes + 32 * (b + j));
      const __m256i p1 = Products<Codes>(block + (j + 1) * kBytes, x.codes + 32 * (b + j + 1));
      acc0 = _mm256_fmadd_ps(_mm256_broadcast_ss(scale + j), _mm256_cvtepi32_ps(p0), acc0);
      acc1 = _mm256_fmadd_ps(_mm256_broadcast_ss(scale + j + 1), _mm256_cvtepi32_ps(p1), acc1);
    }
  }
  float rest = 0;
  for (; b < blocks; ++b) {
    const uint8_t* block = w + b * kBytes;
    const float d = HalfBits(LoadU16(block));
    const __m256i p = Products<Codes>(block, x.codes + 32 * b);
    acc0 = _mm256_fmadd_ps(_mm256_set1_ps(d * x.scales[b]), _mm256_cvtepi32_ps(p), acc0);
    if constexpr (kOffsets) {
      rest += (Codes::kHasMin ? HalfBits(LoadU16(block + 2)) : d) * x.sums[b];
    }
  }
  const float products = HorizontalSum(_mm256_add_ps(acc0, acc1));
  if constexpr (!kOffsets) return products;
  const float offset = HorizontalSum(offsets) + rest;
  return Codes::kHasMin ? products + offset
                        : products - static_cast<float>(Codes::kOffset) * offset;
}

template <typename Codes>
inline void Gemv32(const uint8_t* w, int64_t row_bytes, int64_t rows, int64_t blocks,
                   const Activations32& x, float* y, bool accumulate) {
  for (int64_t r = 0; r < rows; ++r)
    Put(Dot32<Codes>(w + r * row_bytes, blocks, x), accumulate, y + r);
}

// ---- Super-blocks ----

// Adds scale[kGroup] · products of 32 columns. `scales` holds the groups' 16-bit scales, 8 of them
// in each half (the same 8 where there are only 8).
template <typename Codes, int kGroup>
inline void AddGroup(const uint8_t* block, const int8_t* x, __m256i scales, __m256i* sum) {
  const __m256i products =
      _mm256_maddubs_epi16(Codes::template Load<kGroup>(block), Load256(x + 32 * kGroup));
  __m256i pick;  // two bytes of `scales`, repeated through each half of the vector
  if constexpr (Codes::kGroups == 8) {
    pick = _mm256_set1_epi16(static_cast<short>(2 * kGroup + ((2 * kGroup + 1) << 8)));
  } else {  // group 2 kGroup for the first 16 columns, 2 kGroup + 1 for the others
    constexpr int kFirst = 2 * ((2 * kGroup) % 8);
    constexpr short kLow = kFirst + ((kFirst + 1) << 8);
    constexpr short kHigh = kFirst + 2 + ((kFirst + 3) << 8);
    pick = _mm256_setr_epi16(kLow, kLow, kLow, kLow, kLow, kLow, kLow, kLow, kHigh, kHigh, kHigh,
                             kHigh, kHigh, kHigh, kHigh, kHigh);
  }
  *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(products, _mm256_shuffle_epi8(scales, pick)));
}

// d · x-scale times (Σ scale · products), and minus the minima's part, added to acc.
template <typename Codes>
inline void AddBlockWithMins(const uint8_t* block, const int8_t* x, const int16_t* sums32, float xs,
                             __m256* acc, __m128* mins_acc) {
  using Block = typename Codes::Block;
  alignas(16) uint8_t bytes[16];
  ScalesAndMins(block + offsetof(Block, scales), bytes);
  const __m256i wide = _mm256_cvtepu8_epi16(Load128(bytes));  // 8 scales, 8 minima
  const __m256i scales = _mm256_permute4x64_epi64(wide, 0x44);
  __m256i even = _mm256_setzero_si256();
  __m256i odd = _mm256_setzero_si256();
  AddGroup<Codes, 0>(block, x, scales, &even);
  AddGroup<Codes, 1>(block, x, scales, &odd);
  AddGroup<Codes, 2>(block, x, scales, &even);
  AddGroup<Codes, 3>(block, x, scales, &odd);
  AddGroup<Codes, 4>(block, x, scales, &even);
  AddGroup<Codes, 5>(block, x, scales, &odd);
  AddGroup<Codes, 6>(block, x, scales, &even);
  AddGroup<Codes, 7>(block, x, scales, &odd);
  const __m256i sum = _mm256_add_epi32(even, odd);
  const float d = HalfBits(LoadU16(block + offsetof(Block, d))) * xs;
  *acc = _mm256_fmadd_ps(_mm256_set1_ps(d), _mm256_cvtepi32_ps(sum), *acc);
  const __m128i mins = _mm_madd_epi16(_mm256_extracti128_si256(wide, 1), Load128(sums32));
  const float dmin = HalfBits(LoadU16(block + offsetof(Block, dmin))) * xs;
  *mins_acc = _mm_fmadd_ps(_mm_set1_ps(dmin), _mm_cvtepi32_ps(mins), *mins_acc);
}

template <typename Codes>
inline float Dot256(const uint8_t* w, int64_t blocks, const Activations256& x) {
  using Block = typename Codes::Block;
  constexpr int kBytes = sizeof(Block);
  __m256 acc = _mm256_setzero_ps();
  __m128 mins = _mm_setzero_ps();
  for (int64_t b = 0; b < blocks; ++b) {
    const uint8_t* block = w + b * kBytes;
    for (int line = 0; line < kBytes; line += 64) {
      _mm_prefetch(reinterpret_cast<const char*>(block + line + kPrefetchBytes), _MM_HINT_T0);
    }
    AddBlockWithMins<Codes>(block, x.codes + 256 * b, x.sums32 + 8 * b, x.scales[b], &acc, &mins);
  }
  return HorizontalSum(acc) - HorizontalSum(_mm256_set_m128(_mm_setzero_ps(), mins));
}

template <>
inline float Dot256<CodesQ6_K>(const uint8_t* w, int64_t blocks, const Activations256& x) {
  using Block = quant::BlockQ6_K;
  constexpr int kBytes = sizeof(Block);
  __m256 acc = _mm256_setzero_ps();
  for (int64_t b = 0; b < blocks; ++b) {
    const uint8_t* block = w + b * kBytes;
    for (int line = 0; line < kBytes; line += 64) {
      _mm_prefetch(reinterpret_cast<const char*>(block + line + kPrefetchBytes), _MM_HINT_T0);
    }
    const int8_t* xs = x.codes + 256 * b;
    const __m256i all = _mm256_cvtepi8_epi16(Load128(block + offsetof(Block, scales)));
    const __m256i low = _mm256_permute4x64_epi64(all, 0x44);   // scales of groups 0-7, twice
    const __m256i high = _mm256_permute4x64_epi64(all, 0xee);  // and of groups 8-15
    // Codes are 32 too large: start from -32 Σ scale · (sum of x).
    const __m256i minima = _mm256_madd_epi16(all, Load256(x.sums16 + 16 * b));
    __m256i even = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(minima, 5));
    __m256i odd = _mm256_setzero_si256();
    AddGroup<CodesQ6_K, 0>(block, xs, low, &even);
    AddGroup<CodesQ6_K, 1>(block, xs, low, &odd);
    AddGroup<CodesQ6_K, 2>(block, xs, low, &even);
    AddGroup<CodesQ6_K, 3>(block, xs, low, &odd);
    AddGroup<CodesQ6_K, 4>(block, xs, high, &even);
    AddGroup<CodesQ6_K, 5>(block, xs, high, &odd);
    AddGroup<CodesQ6_K, 6>(block, xs, high, &even);
    AddGroup<CodesQ6_K, 7>(block, xs, high, &odd);
    const float d = HalfBits(LoadU16(block + offsetof(Block, d))) * x.scales[b];
    acc = _mm256_fmadd_ps(_mm256_set1_ps(d), _mm256_cvtepi32_ps(_mm256_add_epi32(even, odd)), acc);
  }
  return HorizontalSum(acc);
}

template <typename Codes>
inline void Gemv256(const uint8_t* w, int64_t row_bytes, int64_t rows, int64_t blocks,
                    const Activations256& x, float* y, bool accumulate) {
  for (int64_t r = 0; r < rows; ++r) {
    Put(Dot256<Codes>(w + r * row_bytes, blocks, x), accumulate, y + r);
  }
}

}  // namespace

#define RML_DEFINE_GEMV(Name, width)                                                 \
  void Gemv##Name(const uint8_t* w, int64_t row_bytes, int64_t rows, int64_t blocks, \
                  const Activations##width& x, float* y, bool accumulate) {          \
    Gemv##width<Codes##Name>(w, row_bytes, rows, blocks, x, y, accumulate);          \
  }
RML_DEFINE_GEMV(Q4_0, 32)
RML_DEFINE_GEMV(Q4_1, 32)
RML_DEFINE_GEMV(Q5_0, 32)
RML_DEFINE_GEMV(Q5_1, 32)
RML_DEFINE_GEMV(Q8_0, 32)
RML_DEFINE_GEMV(Q4_K, 256)
RML_DEFINE_GEMV(Q5_K, 256)
RML_DEFINE_GEMV(Q6_K, 256)
#undef RML_DEFINE_GEMV

}  // namespace rml::kernels::avx2
