// ApplyRope: the rotation of rope.h, in vectors.
#include "rml/kernels/float_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rml/kernels/rope_apply.cc"
#include "hwy/foreach_target.h"

#include "rml/kernels/float_simd-inl.h"
#include "rml/kernels/rope.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE void Rotate(VF cos, VF sin, VF& a, VF& b) {
  const VF rotated = hn::NegMulAdd(b, sin, hn::Mul(a, cos));
  b = hn::MulAdd(a, sin, hn::Mul(b, cos));
  a = rotated;
}

// a[i] with b[i]: the two halves of a head.
HWY_INLINE void RotateHalves(float* HWY_RESTRICT a, float* HWY_RESTRICT b, int64_t pairs,
                             const float* cos, const float* sin) {
  const DF d;
  int64_t i = 0;
  for (; i + kLanes <= pairs; i += kLanes) {
    VF va = hn::LoadU(d, a + i);
    VF vb = hn::LoadU(d, b + i);
    Rotate(hn::LoadU(d, cos + i), hn::LoadU(d, sin + i), va, vb);
    hn::StoreU(va, d, a + i);
    hn::StoreU(vb, d, b + i);
  }
  if (i == pairs) return;
  const int64_t left = pairs - i;
  VF va = LoadTail(d, a + i, left);
  VF vb = LoadTail(d, b + i, left);
  Rotate(LoadTail(d, cos + i, left), LoadTail(d, sin + i, left), va, vb);
  StoreTail(va, d, a + i, left);
  StoreTail(vb, d, b + i, left);
}

// x[2i] with x[2i + 1].
HWY_INLINE void RotateAdjacent(float* x, int64_t pairs, const float* cos, const float* sin) {
  const DF d;
  int64_t i = 0;
  for (; i + kLanes <= pairs; i += kLanes) {
    VF a, b;
    hn::LoadInterleaved2(d, x + 2 * i, a, b);
    Rotate(hn::LoadU(d, cos + i), hn::LoadU(d, sin + i), a, b);
    hn::StoreInterleaved2(a, b, d, x + 2 * i);
  }
  if (i == pairs) return;
  const int64_t left = pairs - i;
  HWY_ALIGN float buffer[2 * kLanes] = {};
  for (int64_t k = 0; k < 2 * left; ++k) buffer[k] = x[2 * i + k];
  VF a, b;
  hn::LoadInterleaved2(d, buffer, a, b);
  Rotate(LoadTail(d, cos + i, left), LoadTail(d, sin + i, left), a, b);
  hn::StoreInterleaved2(a, b, d, buffer);
  for (int64_t k = 0; k < 2 * left; ++k) x[2 * i + k] = buffer[k];
}

void ApplyRopeTarget(float* x, int64_t tokens, int64_t heads, int64_t head_dim, int64_t rope_dim,
                     int64_t row_stride, const float* cos, const float* sin, RopeLayout layout) {
  const int64_t pairs = rope_dim / 2;
  for (int64_t t = 0; t < tokens; ++t, cos += pairs, sin += pairs) {
    for (int64_t h = 0; h < heads; ++h) {
      float* head = x + t * row_stride + h * head_dim;
      if (layout == RopeLayout::kAdjacent) {
        RotateAdjacent(head, pairs, cos, sin);
      } else {
        RotateHalves(head, head + pairs, pairs, cos, sin);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace rml::kernels {

HWY_EXPORT(ApplyRopeTarget);

void ApplyRope(float* x, int64_t tokens, int64_t heads, int64_t head_dim, int64_t rope_dim,
               int64_t row_stride, const float* cos, const float* sin, RopeLayout layout) {
  RML_SIMD_CALL(ApplyRopeTarget)
  (x, tokens, heads, head_dim, rope_dim, row_stride, cos, sin, layout);
}

}  // namespace rml::kernels

#endif  // HWY_ONCE
