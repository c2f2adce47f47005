#include "rml/quant/dequantize.h"

#include <cstring>

#include "rml/core/check.h"
#include "rml/core/half.h"
#include "rml/quant/blocks.h"

namespace rml::quant {

namespace {

using core::DType;

void Expand(const BlockQ4_0& b, float* out) {
  const float d = HalfToFloat(b.d);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((b.q[i] & 15) - 8);
    out[i + 16] = d * static_cast<float>((b.q[i] >> 4) - 8);
  }
}

void Expand(const BlockQ4_1& b, float* out) {
  const float d = HalfToFloat(b.d);
  const float m = HalfToFloat(b.m);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(b.q[i] & 15) + m;
    out[i + 16] = d * static_cast<float>(b.q[i] >> 4) + m;
  }
}

// Element i (0..31) of a block with four low bits in q and one in high.
int FiveBits(const uint8_t* q, const uint8_t* high, int i) {
  const int low = i < 16 ? q[i] & 15 : q[i - 16] >> 4;
  return low | (((high[i / 8] >> (i % 8)) & 1) << 4);
}

void Expand(const BlockQ5_0& b, float* out) {
  const float d = HalfToFloat(b.d);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(FiveBits(b.q, b.high, i) - 16);
}

void Expand(const BlockQ5_1& b, float* out) {
  const float d = HalfToFloat(b.d);
  const float m = HalfToFloat(b.m);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(FiveBits(b.q, b.high, i)) + m;
}

void Expand(const BlockQ8_0& b, float* out) {
  const float d = HalfToFloat(b.d);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(b.q[i]);
}

void Expand(const BlockQ4_K& b, float* out) {
  const float d = HalfToFloat(b.d);
  const float dmin = HalfToFloat(b.dmin);
  for (int g = 0; g < 8; ++g) {
    const ScaleMin sm = GroupScaleMin(b.scales, g);
    const float scale = d * static_cast<float>(sm.scale);
    const float min = dmin * static_cast<float>(sm.min);
    const uint8_t* q = b.q + 32 * (g / 2);
    for (int i = 0; i < 32; ++i) {
      const int value = g % 2 == 0 ? q[i] & 15 : q[i] >> 4;
      out[32 * g + i] = scale * static_cast<float>(value) - min;
    }
  }
}

void Expand(const BlockQ5_K& b, float* out) {
  const float d = HalfToFloat(b.d);
  const float dmin = HalfToFloat(b.dmin);
  for (int g = 0; g < 8; ++g) {
    const ScaleMin sm = GroupScaleMin(b.scales, g);
    const float scale = d * static_cast<float>(sm.scale);
    const float min = dmin * static_cast<float>(sm.min);
    const uint8_t* q = b.q + 32 * (g / 2);
    for (int i = 0; i < 32; ++i) {
      const int low = g % 2 == 0 ? q[i] & 15 : q[i] >> 4;
      const int value = low | (((b.high[i] >> g) & 1) << 4);
      out[32 * g + i] = scale * static_cast<float>(value) - min;
    }
  }
}

void Expand(const BlockQ6_K& b, float* out) {
  const float d = HalfToFloat(b.d);
  for (int e = 0; e < kSuperBlock; ++e) {
    const int half = e / 128;
    const int quarter = (e % 128) / 32;
    const int i = e % 32;
    const uint8_t packed = b.low[64 * half + 32 * (quarter % 2) + i];
    const int low = quarter < 2 ? packed & 15 : packed >> 4;
    const int value = low | (((b.high[32 * half + i] >> (2 * quarter)) & 3) << 4);
    out[e] = d * static_cast<float>(b.scales[e / 16]) * static_cast<float>(value - 32);
  }
}

template <typename Block, int kElements>
void ExpandAll(const void* in, int64_t count, float* out) {
  const auto* bytes = static_cast<const std::byte*>(in);
  for (int64_t i = 0; i < count / kElements; ++i) {
    Block block;  // copied, since a file's blocks may lie at odd addresses
    std::memcpy(&block, bytes + i * static_cast<int64_t>(sizeof(Block)), sizeof(Block));
    Expand(block, out + i * kElements);
  }
}

template <typename Bits, float (*kConvert)(Bits)>
void ExpandHalf(const void* in, int64_t count, float* out) {
  const auto* bytes = static_cast<const std::byte*>(in);
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, bytes + i * static_cast<int64_t>(sizeof(Bits)), sizeof(Bits));
    out[i] = kConvert(bits);
  }
}

}  // namespace

bool IsWeightDType(DType dtype) {
  return core::IsQuantized(dtype) || dtype == DType::kF32 || dtype == DType::kF16 ||
         dtype == DType::kBF16;
}

void Dequantize(DType dtype, const void* in, int64_t count, float* out) {
  RML_CHECK(count >= 0 && count % core::Info(dtype).block_elements == 0);
  switch (dtype) {
    case DType::kF32:
      if (count != 0) std::memcpy(out, in, static_cast<size_t>(count) * sizeof(float));
      return;
    case DType::kF16:
      return ExpandHalf<uint16_t, HalfToFloat>(in, count, out);
    case DType::kBF16:
      return ExpandHalf<uint16_t, core::BF16ToF32>(in, count, out);
    case DType::kQ4_0:
      return ExpandAll<BlockQ4_0, kSmallBlock>(in, count, out);
    case DType::kQ4_1:
      return ExpandAll<BlockQ4_1, kSmallBlock>(in, count, out);
    case DType::kQ5_0:
      return ExpandAll<BlockQ5_0, kSmallBlock>(in, count, out);
    case DType::kQ5_1:
      return ExpandAll<BlockQ5_1, kSmallBlock>(in, count, out);
    case DType::kQ8_0:
      return ExpandAll<BlockQ8_0, kSmallBlock>(in, count, out);
    case DType::kQ4_K:
      return ExpandAll<BlockQ4_K, kSuperBlock>(in, count, out);
    case DType::kQ5_K:
      return ExpandAll<BlockQ5_K, kSuperBlock>(in, count, out);
    case DType::kQ6_K:
      return ExpandAll<BlockQ6_K, kSuperBlock>(in, count, out);
    default:
      RML_CHECK(!"not a weight dtype");
  }
}

}  // namespace rml::quant
