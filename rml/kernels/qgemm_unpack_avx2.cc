// AVX2: from 16 rows of blocks to a panel (qgemm_layout.h). Eight rows' codes of 32 columns are
// eight vectors of eight 4-column words; the panel wants their transpose.
#include "rml/kernels/qgemm_codes_avx2.h"
#include "rml/kernels/qgemv_avx2.h"

namespace rml::kernels::avx2 {

namespace {

// v[r] holds row r's words 0..7. Word s of the eight rows goes to out + s · step_bytes.
inline void TransposeWords(const __m256i (&v)[8], uint8_t* out, int step_bytes) {
  __m256i t[8];
  __m256i u[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm256_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    u[4 * i] = _mm256_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    u[4 * i + 1] = _mm256_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    u[4 * i + 2] = _mm256_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    u[4 * i + 3] = _mm256_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
#pragma GCC unroll 4
  for (int s = 0; s < 4; ++s) {
    Store256(out + s * step_bytes, _mm256_permute2x128_si256(u[s], u[s + 4], 0x20));
    Store256(out + (s + 4) * step_bytes, _mm256_permute2x128_si256(u[s], u[s + 4], 0x31));
  }
}

constexpr int kStepBytes = kPanelRows * 4;
constexpr int kPlaneBytes = 8 * kStepBytes;

template <typename Codes, bool kPlanes>
inline void UnpackCodes32(const PanelSource& source, int64_t b, uint8_t* out) {
  constexpr int kBytes = sizeof(typename Codes::Block);
  const __m256i nibble = _mm256_set1_epi8(15);
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    __m256i v[8];
#pragma GCC unroll 8
    for (int r = 0; r < 8; ++r) v[r] = Codes::Load(source.rows[8 * half + r] + b * kBytes);
    if constexpr (kPlanes) {
      __m256i high[8];
#pragma GCC unroll 8
      for (int r = 0; r < 8; ++r) {
        high[r] = _mm256_and_si256(_mm256_srli_epi16(v[r], 4), nibble);
        v[r] = _mm256_and_si256(v[r], nibble);
      }
      TransposeWords(high, out + 32 * half, kStepBytes);
      TransposeWords(v, out + kPlaneBytes + 32 * half, kStepBytes);
    } else {
      TransposeWords(v, out + 32 * half, kStepBytes);
    }
  }
}

template <typename Codes, bool kPlanes>
inline void Unpack32(const PanelSource& source, const Panel32& panel) {
  constexpr int kBytes = sizeof(typename Codes::Block);
  for (int64_t b = 0; b < source.blocks; ++b) {
    UnpackCodes32<Codes, kPlanes>(source, b, panel.codes + b * kPlaneBytes * (kPlanes ? 2 : 1));
    alignas(32) uint16_t d[kPanelRows];
    alignas(32) uint16_t m[kPanelRows];
    for (int r = 0; r < kPanelRows; ++r) {
      d[r] = LoadU16(source.rows[r] + b * kBytes);
      if constexpr (Codes::kHasMin) m[r] = LoadU16(source.rows[r] + b * kBytes + 2);
    }
    for (int half = 0; half < 2; ++half) {
      const __m256 ds = _mm256_cvtph_ps(Load128(d + 8 * half));
      __m256 ms;
      if constexpr (Codes::kHasMin) {
        ms = _mm256_cvtph_ps(Load128(m + 8 * half));
      } else {
        ms = _mm256_mul_ps(ds, _mm256_set1_ps(-static_cast<float>(Codes::kOffset)));
      }
      _mm256_storeu_ps(panel.d + b * kPanelRows + 8 * half, ds);
      _mm256_storeu_ps(panel.m + b * kPanelRows + 8 * half, ms);
    }
  }
}

template <typename Codes, int kGroup>
inline void UnpackGroup256(const PanelSource& source, int64_t b, uint8_t* out) {
  constexpr int kBytes = sizeof(typename Codes::Block);
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    __m256i v[8];
#pragma GCC unroll 8
    for (int r = 0; r < 8; ++r) {
      v[r] = Codes::template Load<kGroup>(source.rows[8 * half + r] + b * kBytes);
    }
    TransposeWords(v, out + kGroup * kPlaneBytes + 32 * half, kStepBytes);
  }
}

template <typename Codes>
inline void UnpackCodes256(const PanelSource& source, int64_t b, uint8_t* out) {
  UnpackGroup256<Codes, 0>(source, b, out);
  UnpackGroup256<Codes, 1>(source, b, out);
  UnpackGroup256<Codes, 2>(source, b, out);
  UnpackGroup256<Codes, 3>(source, b, out);
  UnpackGroup256<Codes, 4>(source, b, out);
  UnpackGroup256<Codes, 5>(source, b, out);
  UnpackGroup256<Codes, 6>(source, b, out);
  UnpackGroup256<Codes, 7>(source, b, out);
}

inline void PutScale(const Panel256& panel, int64_t b, int groups, int g, int r, int scale,
                     int min) {
  int16_t* twice = panel.scales + ((b * groups + g) * kPanelRows + r) * 2;
  twice[0] = twice[1] = static_cast<int16_t>(scale);
  panel.mins[((b * groups + g) / 2 * kPanelRows + r) * 2 + g % 2] = static_cast<int16_t>(min);
}

template <typename Codes>
inline void UnpackWithMins(const PanelSource& source, const Panel256& panel) {
  using Block = typename Codes::Block;
  for (int64_t b = 0; b < source.blocks; ++b) {
    UnpackCodes256<Codes>(source, b, panel.codes + b * 8 * kPlaneBytes);
    for (int r = 0; r < kPanelRows; ++r) {
      const uint8_t* block = source.rows[r] + b * static_cast<int64_t>(sizeof(Block));
      uint8_t bytes[16];
      ScalesAndMins(block + offsetof(Block, scales), bytes);
      for (int g = 0; g < 8; ++g) PutScale(panel, b, 8, g, r, bytes[g], bytes[8 + g]);
      panel.d[b * kPanelRows + r] = HalfBits(LoadU16(block + offsetof(Block, d)));
      panel.dmin[b * kPanelRows + r] = HalfBits(LoadU16(block + offsetof(Block, dmin)));
    }
  }
}

}  // namespace

void UnpackQ4_0(const PanelSource& s, const Panel32& p) { Unpack32<CodesQ4_0, false>(s, p); }
void UnpackQ4_1(const PanelSource& s, const Panel32& p) { Unpack32<CodesQ4_1, false>(s, p); }
void UnpackQ5_0(const PanelSource& s, const Panel32& p) { Unpack32<CodesQ5_0, false>(s, p); }
void UnpackQ5_1(const PanelSource& s, const Panel32& p) { Unpack32<CodesQ5_1, false>(s, p); }
void UnpackQ8_0(const PanelSource& s, const Panel32& p) { Unpack32<CodesQ8_0, true>(s, p); }
void UnpackQ8_0Whole(const PanelSource& s, const Panel32& p) { Unpack32<CodesQ8_0, false>(s, p); }

void UnpackQ4_K(const PanelSource& s, const Panel256& p) { UnpackWithMins<CodesQ4_K>(s, p); }
void UnpackQ5_K(const PanelSource& s, const Panel256& p) { UnpackWithMins<CodesQ5_K>(s, p); }

void UnpackQ6_K(const PanelSource& source, const Panel256& panel) {
  using Block = quant::BlockQ6_K;
  for (int64_t b = 0; b < source.blocks; ++b) {
    UnpackCodes256<CodesQ6_K>(source, b, panel.codes + b * 8 * kPlaneBytes);
    for (int r = 0; r < kPanelRows; ++r) {
      const uint8_t* block = source.rows[r] + b * static_cast<int64_t>(sizeof(Block));
      int8_t scales[16];
      memcpy(scales, block + offsetof(Block, scales), sizeof(scales));
      for (int g = 0; g < 16; ++g) PutScale(panel, b, 16, g, r, scales[g], 32 * scales[g]);
      const float d = HalfBits(LoadU16(block + offsetof(Block, d)));
      panel.d[b * kPanelRows + r] = d;
      panel.dmin[b * kPanelRows + r] = d;
    }
  }
}

}  // namespace rml::kernels::avx2
