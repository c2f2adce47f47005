// Elementwise functions of one operand, f32 and f64, any strides.
#include <cmath>

#include "rml/core/strided_loop.h"
#include "rml/ops/host_data.h"
#include "rml/providers/cpu/kernel_lists.h"

namespace rml::providers::cpu {
namespace {

struct Neg {
  template <typename T>
  static T Of(T x) {
    return -x;
  }
};
struct Exp {
  template <typename T>
  static T Of(T x) {
    return std::exp(x);
  }
};
struct Log {
  template <typename T>
  static T Of(T x) {
    return std::log(x);
  }
};
struct Sqrt {
  template <typename T>
  static T Of(T x) {
    return std::sqrt(x);
  }
};
struct Rsqrt {
  template <typename T>
  static T Of(T x) {
    return 1 / std::sqrt(x);
  }
};
struct Sigmoid {
  template <typename T>
  static T Of(T x) {
    return 1 / (1 + std::exp(-x));
  }
};
struct Tanh {
  template <typename T>
  static T Of(T x) {
    return std::tanh(x);
  }
};

template <typename F, typename T>
core::Status Run(const ops::KernelArgs& args) noexcept {
  const core::Tensor& x = args.in(0);
  const T* const in = ops::Data<T>(x);
  T* const out = ops::MutableData<T>(args.outputs[0]);
  const int64_t count = x.elements();
  if (x.IsContiguous()) {
    const int64_t chunks = (count + kElementsPerChunk - 1) / kElementsPerChunk;
    args.context->Run(chunks, [&](int64_t chunk, int) {
      const int64_t end = std::min(count, (chunk + 1) * kElementsPerChunk);
      for (int64_t i = chunk * kElementsPerChunk; i < end; ++i) out[i] = F::template Of<T>(in[i]);
    });
    return {};
  }
  const core::StridedLoop<1> loop(x.shape(), {x.strides()});
  int64_t at = 0;
  loop.ForEachRow([&](const std::array<int64_t, 1>& begin) {
    for (int64_t i = 0; i < loop.row_elements(); ++i)
      out[at++] = F::template Of<T>(in[begin[0] + i * loop.row_strides()[0]]);
  });
  return {};
}

template <core::DType kDType>
ops::Kernel::Refusal Accepts(const ir::OpCall& call) {
  return ops::WantsDType(call, 0, kDType);
}

template <typename F>
void Add(std::string_view op, std::vector<ops::Kernel>* kernels) {
  ops::Kernel kernel;
  kernel.op = op;
  kernel.name = "f32";
  kernel.accepts = Accepts<core::DType::kF32>;
  kernel.run = Run<F, float>;
  kernels->push_back(kernel);
  kernel.name = "f64";
  kernel.accepts = Accepts<core::DType::kF64>;
  kernel.run = Run<F, double>;
  kernels->push_back(kernel);
}

}  // namespace

std::vector<ops::Kernel> UnaryKernels() {
  std::vector<ops::Kernel> kernels;
  Add<Neg>("neg", &kernels);
  Add<Exp>("exp", &kernels);
  Add<Log>("log", &kernels);
  Add<Sqrt>("sqrt", &kernels);
  Add<Rsqrt>("rsqrt", &kernels);
  Add<Sigmoid>("sigmoid", &kernels);
  Add<Tanh>("tanh", &kernels);
  return kernels;
}

}  // namespace rml::providers::cpu
