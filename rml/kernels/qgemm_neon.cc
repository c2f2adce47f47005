// NEON (ARMv8.0, no dot-product extension): the tile of qgemm_tile-inl.h in four vectors of four
// rows. Codes are at most 127 here, so both factors are signed bytes; products are widened to 16
// bits and added in pairs, as maddubs does. Products with one row of x and unpacking are the
// portable ones, which the compiler vectorises.
#include "rml/kernels/qgemm_table.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <string.h>

namespace rml::kernels {
namespace {

struct Ops {
  using Int = int32x4_t;
  using Float = float32x4_t;
  static constexpr int kVectors = 4;
  static constexpr int kTile = 3;

  static Int Load(const void* p) {
    return vreinterpretq_s32_s8(vld1q_s8(static_cast<const int8_t*>(p)));
  }
  static Int BroadcastWord(const void* p) {
    int32_t word;
    memcpy(&word, p, sizeof(word));
    return vdupq_n_s32(word);
  }
  static Int ZeroInt() { return vdupq_n_s32(0); }
  static Int Set16(int16_t value) { return vreinterpretq_s32_s16(vdupq_n_s16(value)); }
  static int16x8_t Pairs(Int w, Int x) {
    const int8x16_t a = vreinterpretq_s8_s32(w);
    const int8x16_t b = vreinterpretq_s8_s32(x);
    return vpaddq_s16(vmull_s8(vget_low_s8(a), vget_low_s8(b)), vmull_high_s8(a, b));
  }
  static Int First(Int w, Int x) { return vreinterpretq_s32_s16(Pairs(w, x)); }
  static Int Next(Int sum, Int w, Int x) {
    return vreinterpretq_s32_s16(vaddq_s16(vreinterpretq_s16_s32(sum), Pairs(w, x)));
  }
  static Int Close(Int sum) { return vpaddlq_s16(vreinterpretq_s16_s32(sum)); }
  static Int CloseScaled(Int sum, Int scale) { return PairSum(sum, scale); }
  static Int PairSum(Int a, Int b) {
    const int16x8_t u = vreinterpretq_s16_s32(a);
    const int16x8_t v = vreinterpretq_s16_s32(b);
    return vpaddq_s32(vmull_s16(vget_low_s16(u), vget_low_s16(v)), vmull_high_s16(u, v));
  }
  static Int Add32(Int a, Int b) { return vaddq_s32(a, b); }

  static Float ZeroFloat() { return vdupq_n_f32(0); }
  static Float LoadFloat(const float* p) { return vld1q_f32(p); }
  static void StoreFloat(float* p, Float v) { vst1q_f32(p, v); }
  static Float BroadcastFloat(const float* p) { return vld1q_dup_f32(p); }
  static Float ToFloat(Int v) { return vcvtq_f32_s32(v); }
  static Float Mul(Float a, Float b) { return vmulq_f32(a, b); }
  static Float MulAdd(Float a, Float b, Float c) { return vfmaq_f32(c, a, b); }
  static Float MulSub(Float a, Float b, Float c) { return vfmsq_f32(c, a, b); }
};

}  // namespace
}  // namespace rml::kernels

#include "rml/kernels/qgemm_tile-inl.h"

namespace rml::kernels {
namespace {

// Codes of Q8_0 in two planes of nibbles: the portable ones, split from the last block to the first
// so that nothing is overwritten before it is read.
void UnpackPlanes(const PanelSource& source, const Panel32& panel) {
  kQuantKernelsPortable.q8_0.unpack(source, panel);
  for (int64_t b = source.blocks - 1; b >= 0; --b) {
    uint8_t whole[kBlockBytes];
    memcpy(whole, panel.codes + b * kBlockBytes, sizeof(whole));
    uint8_t* high = panel.codes + 2 * b * kBlockBytes;
    uint8_t* low = high + kBlockBytes;
    for (int i = 0; i < kBlockBytes; ++i) {
      high[i] = static_cast<uint8_t>(whole[i] >> 4);
      low[i] = whole[i] & 15;
    }
  }
}

}  // namespace

QuantKernels MakeQuantKernelsNeon() {
  QuantKernels k = kQuantKernelsPortable;
  k.q4_0.gemm = k.q4_1.gemm = Gemm32<8, 1>;
  k.q5_0.gemm = k.q5_1.gemm = Gemm32<4, 1>;
  k.q8_0 = {k.q8_0.gemv, UnpackPlanes, Gemm32<8, 2>};
  k.q4_k.gemm = Gemm256<8, 8>;
  k.q5_k.gemm = Gemm256<4, 8>;
  k.q6_k.gemm = Gemm256<2, 16>;
  return k;
}

}  // namespace rml::kernels

#endif
