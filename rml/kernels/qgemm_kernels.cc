#include "rml/kernels/qgemm_kernels.h"

namespace rml::kernels {

using core::DType;

const QuantKernels& QuantKernelsFor(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::kAvx2:
      return kQuantKernelsAvx2;
    case Isa::kAvx512:
      return kQuantKernelsAvx512;
    case Isa::kAvx512Vnni:
    case Isa::kAvx512Bf16:
      return kQuantKernelsAvx512Vnni;
#elif defined(__aarch64__)
    case Isa::kNeon: {
      static const QuantKernels neon = MakeQuantKernelsNeon();
      return neon;
    }
#endif
    default:
      return kQuantKernelsPortable;
  }
}

const Kernels32* Find32(const QuantKernels& kernels, DType dtype) {
  switch (dtype) {
    case DType::kQ4_0:
      return &kernels.q4_0;
    case DType::kQ4_1:
      return &kernels.q4_1;
    case DType::kQ5_0:
      return &kernels.q5_0;
    case DType::kQ5_1:
      return &kernels.q5_1;
    case DType::kQ8_0:
      return &kernels.q8_0;
    default:
      return nullptr;
  }
}

const Kernels256* Find256(const QuantKernels& kernels, DType dtype) {
  switch (dtype) {
    case DType::kQ4_K:
      return &kernels.q4_k;
    case DType::kQ5_K:
      return &kernels.q5_k;
    case DType::kQ6_K:
      return &kernels.q6_k;
    default:
      return nullptr;
  }
}

}  // namespace rml::kernels
