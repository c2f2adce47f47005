#include "rml/quant/dot.h"

#include <cmath>
#include <vector>

#include "rml/quant/dequantize.h"

namespace rml::quant {

DotResult DotReference(core::DType dtype, const void* weights, const float* x, int64_t count) {
  std::vector<float> w(static_cast<size_t>(count));
  Dequantize(dtype, weights, count, w.data());
  DotResult result{0, 0};
  for (int64_t i = 0; i < count; ++i) {
    const double product =
        static_cast<double>(w[static_cast<size_t>(i)]) * static_cast<double>(x[i]);
    result.value += product;
    result.magnitude += std::fabs(product);
  }
  return result;
}

}  // namespace rml::quant
