#include "rml/core/half.h"
#include "rml/kernels/float_gemm.h"

namespace rml::kernels {

namespace {

double Weight(core::DType dtype, const void* w, int64_t index) {
  switch (dtype) {
    case core::DType::kF16:
      return core::F16ToF32(static_cast<const uint16_t*>(w)[index]);
    case core::DType::kBF16:
      return core::BF16ToF32(static_cast<const uint16_t*>(w)[index]);
    default:
      return static_cast<const float*>(w)[index];
  }
}

}  // namespace

void FloatGemmReference(core::DType w_dtype, const void* w, int64_t rows, int64_t cols,
                        const float* x, int64_t x_stride, int64_t m, float* y, int64_t y_stride,
                        bool accumulate) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t r = 0; r < rows; ++r) {
      double sum = accumulate ? y[i * y_stride + r] : 0.0;
      for (int64_t c = 0; c < cols; ++c) {
        sum += Weight(w_dtype, w, r * cols + c) * x[i * x_stride + c];
      }
      y[i * y_stride + r] = static_cast<float>(sum);
    }
  }
}

}  // namespace rml::kernels
