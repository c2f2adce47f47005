// AVX512-BF16: the panel kernel of the bf16 GEMM.
#include "rml/kernels/float_gemm_bf16.h"

#if defined(__AVX512BF16__)

#include <immintrin.h>

namespace rml::kernels {

namespace {
#include "rml/kernels/float_gemm_avx512bf16-inl.h"
}  // namespace

void Bf16PanelAvx512(const uint32_t* panel, int64_t pairs, int64_t width, const uint32_t* x,
                     int64_t x_stride, int64_t m, float* y, int64_t y_stride, bool add) {
  Bf16Panel(panel, pairs, width, x, x_stride, m, y, y_stride, add);
}

}  // namespace rml::kernels

#endif
