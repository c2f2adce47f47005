// AVX2 kernels that the tables of AVX2 and of the AVX-512 levels share.
#pragma once

#include "rml/kernels/qgemm_layout.h"

namespace rml::kernels::avx2 {

void Quantize32(const float* x, int64_t cols, int64_t i, int64_t m, const Activations32& out);
void Quantize256(const float* x, int64_t cols, int64_t i, int64_t m, const Activations256& out);

#define RML_DECLARE_32(Name)                                                         \
  void Gemv##Name(const uint8_t* w, int64_t row_bytes, int64_t rows, int64_t blocks, \
                  const Activations32& x, float* y, bool accumulate);                \
  void Unpack##Name(const PanelSource& source, const Panel32& panel);
RML_DECLARE_32(Q4_0)
RML_DECLARE_32(Q4_1)
RML_DECLARE_32(Q5_0)
RML_DECLARE_32(Q5_1)
RML_DECLARE_32(Q8_0)  // codes in two planes of nibbles
#undef RML_DECLARE_32
void UnpackQ8_0Whole(const PanelSource& source, const Panel32& panel);  // one plane of bytes

#define RML_DECLARE_256(Name)                                                        \
  void Gemv##Name(const uint8_t* w, int64_t row_bytes, int64_t rows, int64_t blocks, \
                  const Activations256& x, float* y, bool accumulate);               \
  void Unpack##Name(const PanelSource& source, const Panel256& panel);
RML_DECLARE_256(Q4_K)
RML_DECLARE_256(Q5_K)
RML_DECLARE_256(Q6_K)
#undef RML_DECLARE_256

}  // namespace rml::kernels::avx2
