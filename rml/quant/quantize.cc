#include "rml/quant/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "rml/core/check.h"
#include "rml/core/half.h"
#include "rml/quant/blocks.h"
#include "rml/quant/scale_search.h"

namespace rml::quant {

namespace {

using core::DType;

// Reciprocal that maps zero to zero, so that a block of zeros gets codes of zero.
float SafeInverse(float d) { return d != 0 ? 1.0f / d : 0.0f; }

// The element of largest magnitude, with its sign; the first of equals.
float SignedExtreme(const float* x, int n) {
  float extreme = 0;
  for (int i = 0; i < n; ++i) {
    if (std::fabs(x[i]) > std::fabs(extreme)) extreme = x[i];
  }
  return extreme;
}

// Codes of a symmetric type with 2 · half codes: the extreme element gets code 0 (that is, -half).
void EncodeSymmetric(const float* x, int half, uint8_t* code, uint16_t* d_bits) {
  const float d = SignedExtreme(x, kSmallBlock) / static_cast<float>(-half);
  const float inverse = SafeInverse(d);
  *d_bits = core::F32ToF16(d);
  for (int i = 0; i < kSmallBlock; ++i) {
    const int rounded = static_cast<int>(x[i] * inverse + (static_cast<float>(half) + 0.5f));
    code[i] = static_cast<uint8_t>(std::min(rounded, 2 * half - 1));
  }
}

void EncodeAffine(const float* x, int max_code, uint8_t* code, uint16_t* d_bits, uint16_t* m_bits) {
  const auto [low, high] = std::minmax_element(x, x + kSmallBlock);
  const float d = (*high - *low) / static_cast<float>(max_code);
  const float inverse = SafeInverse(d);
  *d_bits = core::F32ToF16(d);
  *m_bits = core::F32ToF16(*low);
  for (int i = 0; i < kSmallBlock; ++i) {
    const int rounded = static_cast<int>((x[i] - *low) * inverse + 0.5f);
    code[i] = static_cast<uint8_t>(std::min(rounded, max_code));
  }
}

void PackNibbles(const uint8_t* code, uint8_t* q) {
  for (int i = 0; i < 16; ++i) q[i] = static_cast<uint8_t>((code[i] & 15) | (code[i + 16] << 4));
}

void PackFifthBits(const uint8_t* code, uint8_t* high) {
  std::memset(high, 0, 4);
  for (int i = 0; i < 32; ++i) high[i / 8] |= static_cast<uint8_t>((code[i] >> 4) << (i % 8));
}

void Encode(const float* x, BlockQ4_0* b) {
  uint8_t code[kSmallBlock];
  EncodeSymmetric(x, 8, code, &b->d);
  PackNibbles(code, b->q);
}

void Encode(const float* x, BlockQ4_1* b) {
  uint8_t code[kSmallBlock];
  EncodeAffine(x, 15, code, &b->d, &b->m);
  PackNibbles(code, b->q);
}

void Encode(const float* x, BlockQ5_0* b) {
  uint8_t code[kSmallBlock];
  EncodeSymmetric(x, 16, code, &b->d);
  PackNibbles(code, b->q);
  PackFifthBits(code, b->high);
}

void Encode(const float* x, BlockQ5_1* b) {
  uint8_t code[kSmallBlock];
  EncodeAffine(x, 31, code, &b->d, &b->m);
  PackNibbles(code, b->q);
  PackFifthBits(code, b->high);
}

void Encode(const float* x, BlockQ8_0* b) {
  const float d = std::fabs(SignedExtreme(x, kSmallBlock)) / 127.0f;
  const float inverse = SafeInverse(d);
  b->d = core::F32ToF16(d);
  for (int i = 0; i < kSmallBlock; ++i) b->q[i] = static_cast<int8_t>(std::round(x[i] * inverse));
}

// Scales, minima and codes of the eight groups of a Q4_K or Q5_K block.
struct AffineGroups {
  uint16_t d = 0;
  uint16_t dmin = 0;
  uint8_t scales[12] = {};
  uint8_t code[kSuperBlock];
};

void PutScaleMin(int g, int scale, int min, uint8_t* scales) {
  if (g < 4) {
    scales[g] = static_cast<uint8_t>(scale);
    scales[g + 4] = static_cast<uint8_t>(min);
    return;
  }
  scales[g + 4] = static_cast<uint8_t>((scale & 15) | ((min & 15) << 4));
  scales[g - 4] = static_cast<uint8_t>(scales[g - 4] | ((scale >> 4) << 6));
  scales[g] = static_cast<uint8_t>(scales[g] | ((min >> 4) << 6));
}

void EncodeAffineGroups(const float* x, const AffineSearch& search, AffineGroups* out) {
  AffineFit fit[8];
  float max_scale = 0;
  float max_min = 0;
  for (int g = 0; g < 8; ++g) {
    fit[g] = SearchAffineScale(x + 32 * g, 32, search);
    max_scale = std::max(max_scale, fit[g].scale);
    max_min = std::max(max_min, fit[g].min);
  }
  const float inverse_scale = max_scale > 0 ? 63.0f / max_scale : 0.0f;
  const float inverse_min = max_min > 0 ? 63.0f / max_min : 0.0f;
  for (int g = 0; g < 8; ++g) {
    PutScaleMin(g, std::clamp(NearestInt(inverse_scale * fit[g].scale), 0, 63),
                std::clamp(NearestInt(inverse_min * fit[g].min), 0, 63), out->scales);
  }
  out->d = core::F32ToF16(max_scale / 63.0f);
  out->dmin = core::F32ToF16(max_min / 63.0f);

  // Codes for the scales that the block can really say.
  for (int g = 0; g < 8; ++g) {
    const ScaleMin sm = GroupScaleMin(out->scales, g);
    const float scale = HalfToFloat(out->d) * static_cast<float>(sm.scale);
    const float min = HalfToFloat(out->dmin) * static_cast<float>(sm.min);
    for (int i = 0; i < 32; ++i) {
      const int e = 32 * g + i;
      const int code = scale != 0 ? NearestInt((x[e] + min) / scale) : 0;
      out->code[e] = static_cast<uint8_t>(std::clamp(code, 0, search.max_code));
    }
  }
}

void PackSuperNibbles(const uint8_t* code, uint8_t* q) {
  for (int p = 0; p < 4; ++p) {
    for (int i = 0; i < 32; ++i) {
      q[32 * p + i] =
          static_cast<uint8_t>((code[64 * p + i] & 15) | ((code[64 * p + 32 + i] & 15) << 4));
    }
  }
}

void Encode(const float* x, BlockQ4_K* b) {
  AffineGroups groups;
  EncodeAffineGroups(x, {.max_code = 15, .first = -1.0f, .steps = 20}, &groups);
  b->d = groups.d;
  b->dmin = groups.dmin;
  std::memcpy(b->scales, groups.scales, sizeof(b->scales));
  PackSuperNibbles(groups.code, b->q);
}

void Encode(const float* x, BlockQ5_K* b) {
  AffineGroups groups;
  EncodeAffineGroups(x, {.max_code = 31, .first = -0.5f, .steps = 15}, &groups);
  b->d = groups.d;
  b->dmin = groups.dmin;
  std::memcpy(b->scales, groups.scales, sizeof(b->scales));
  PackSuperNibbles(groups.code, b->q);
  std::memset(b->high, 0, sizeof(b->high));
  for (int e = 0; e < kSuperBlock; ++e) {
    b->high[e % 32] |= static_cast<uint8_t>((groups.code[e] >> 4) << (e / 32));
  }
}

void Encode(const float* x, BlockQ6_K* b) {
  std::memset(b, 0, sizeof(*b));
  float scale[16];
  float extreme = 0;
  for (int g = 0; g < 16; ++g) {
    scale[g] = SearchSymmetricScale(x + 16 * g, 16, 32);
    if (std::fabs(scale[g]) > std::fabs(extreme)) extreme = scale[g];
  }
  if (std::fabs(extreme) < 1e-15f) return;

  const float inverse = -128.0f / extreme;
  b->d = core::F32ToF16(1 / inverse);
  for (int g = 0; g < 16; ++g) {
    b->scales[g] = static_cast<int8_t>(std::min(127, NearestInt(inverse * scale[g])));
  }
  for (int e = 0; e < kSuperBlock; ++e) {
    const float step = HalfToFloat(b->d) * static_cast<float>(b->scales[e / 16]);
    // A group whose scale rounds to zero holds zeros, whatever its codes.
    const int code = step != 0 ? std::clamp(NearestInt(x[e] / step), -32, 31) + 32 : 32;
    const int half = e / 128;
    const int quarter = (e % 128) / 32;
    const int i = e % 32;
    b->low[64 * half + 32 * (quarter % 2) + i] |=
        static_cast<uint8_t>((code & 15) << (quarter < 2 ? 0 : 4));
    b->high[32 * half + i] |= static_cast<uint8_t>((code >> 4) << (2 * quarter));
  }
}

template <typename Block, int kElements>
void EncodeAll(const float* in, int64_t count, void* out) {
  auto* bytes = static_cast<std::byte*>(out);
  for (int64_t i = 0; i < count / kElements; ++i) {
    Block block;
    Encode(in + i * kElements, &block);
    std::memcpy(bytes + i * static_cast<int64_t>(sizeof(Block)), &block, sizeof(Block));
  }
}

template <uint16_t (*kConvert)(float)>
void NarrowAll(const float* in, int64_t count, void* out) {
  auto* bytes = static_cast<std::byte*>(out);
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t bits = kConvert(in[i]);
    std::memcpy(bytes + 2 * i, &bits, sizeof(bits));
  }
}

}  // namespace

void Quantize(DType dtype, const float* in, int64_t count, void* out) {
  RML_CHECK(count >= 0 && count % core::Info(dtype).block_elements == 0);
  switch (dtype) {
    case DType::kF32:
      if (count != 0) std::memcpy(out, in, static_cast<size_t>(count) * sizeof(float));
      return;
    case DType::kF16:
      return NarrowAll<core::F32ToF16>(in, count, out);
    case DType::kBF16:
      return NarrowAll<core::F32ToBF16>(in, count, out);
    case DType::kQ4_0:
      return EncodeAll<BlockQ4_0, kSmallBlock>(in, count, out);
    case DType::kQ4_1:
      return EncodeAll<BlockQ4_1, kSmallBlock>(in, count, out);
    case DType::kQ5_0:
      return EncodeAll<BlockQ5_0, kSmallBlock>(in, count, out);
    case DType::kQ5_1:
      return EncodeAll<BlockQ5_1, kSmallBlock>(in, count, out);
    case DType::kQ8_0:
      return EncodeAll<BlockQ8_0, kSmallBlock>(in, count, out);
    case DType::kQ4_K:
      return EncodeAll<BlockQ4_K, kSuperBlock>(in, count, out);
    case DType::kQ5_K:
      return EncodeAll<BlockQ5_K, kSuperBlock>(in, count, out);
    case DType::kQ6_K:
      return EncodeAll<BlockQ6_K, kSuperBlock>(in, count, out);
    default:
      RML_CHECK(!"not a weight dtype");
  }
}

}  // namespace rml::quant
