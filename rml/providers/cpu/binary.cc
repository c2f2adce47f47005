// Elementwise functions of two operands with broadcasting: f32, f64 and the 64- and 32-bit
// integers.
#include "rml/core/strided_loop.h"
#include "rml/ops/host_data.h"
#include "rml/providers/cpu/kernel_lists.h"

namespace rml::providers::cpu {
namespace {

// Integers wrap: sums and products are those of their unsigned twins.
template <typename T>
using Ring = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                         std::type_identity<T>>::type;

struct Add {
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(static_cast<Ring<T>>(a) + static_cast<Ring<T>>(b));
  }
};
struct Sub {
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(static_cast<Ring<T>>(a) - static_cast<Ring<T>>(b));
  }
};
struct Mul {
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(static_cast<Ring<T>>(a) * static_cast<Ring<T>>(b));
  }
};
struct Div {  // floats only
  template <typename T>
  static T Of(T a, T b) {
    return a / b;
  }
};

using Strides = std::array<int64_t, core::kMaxRank>;

// An input's strides along the output's axes; 0 where it is repeated.
Strides Along(const core::Tensor& input, const core::Shape& out) {
  Strides strides = {};
  for (int axis = 0; axis < input.rank(); ++axis) {
    const int place = axis + out.rank() - input.rank();
    const bool repeated = input.dim(axis) == 1 && out[place] != 1;
    strides[static_cast<size_t>(place)] = repeated ? 0 : input.strides()[static_cast<size_t>(axis)];
  }
  return strides;
}

template <typename F, typename T>
core::Status Run(const ops::KernelArgs& args) noexcept {
  const core::Tensor& a = args.in(0);
  const core::Tensor& b = args.in(1);
  const core::Tensor& y = args.outputs[0];
  const T* const pa = ops::Data<T>(a);
  const T* const pb = ops::Data<T>(b);
  T* const out = ops::MutableData<T>(y);
  if (a.shape() == b.shape() && a.IsContiguous() && b.IsContiguous()) {
    const int64_t count = y.elements();
    const int64_t chunks = (count + kElementsPerChunk - 1) / kElementsPerChunk;
    args.context->Run(chunks, [&](int64_t chunk, int) {
      const int64_t end = std::min(count, (chunk + 1) * kElementsPerChunk);
      for (int64_t i = chunk * kElementsPerChunk; i < end; ++i)
        out[i] = F::template Of<T>(pa[i], pb[i]);
    });
    return {};
  }
  const Strides along_a = Along(a, y.shape());
  const Strides along_b = Along(b, y.shape());
  const auto rank = static_cast<size_t>(y.rank());
  const core::StridedLoop<2> loop(y.shape(),
                                  {std::span(along_a).first(rank), std::span(along_b).first(rank)});
  const auto [step_a, step_b] = loop.row_strides();
  int64_t at = 0;
  loop.ForEachRow([&, step_a = step_a, step_b = step_b](const std::array<int64_t, 2>& begin) {
    const T* const row_a = pa + begin[0];
    const T* const row_b = pb + begin[1];
    T* const row = out + at;
    const int64_t n = loop.row_elements();
    for (int64_t i = 0; i < n; ++i)
      row[i] = F::template Of<T>(row_a[i * step_a], row_b[i * step_b]);
    at += n;
  });
  return {};
}

template <core::DType kDType>
ops::Kernel::Refusal Accepts(const ir::OpCall& call) {
  return ops::WantsDType(call, 0, kDType);
}

template <typename F, typename T>
void AddKernel(std::string_view op, std::vector<ops::Kernel>* kernels) {
  constexpr core::DType kDType = core::DTypeOf<T>::value;
  ops::Kernel kernel;
  kernel.op = op;
  kernel.name = core::Name(kDType);
  kernel.accepts = Accepts<kDType>;
  kernel.run = Run<F, T>;
  kernels->push_back(kernel);
}

template <typename F>
void AddRing(std::string_view op, std::vector<ops::Kernel>* kernels) {
  AddKernel<F, float>(op, kernels);
  AddKernel<F, double>(op, kernels);
  AddKernel<F, int64_t>(op, kernels);
  AddKernel<F, int32_t>(op, kernels);
}

}  // namespace

std::vector<ops::Kernel> BinaryKernels() {
  std::vector<ops::Kernel> kernels;
  AddRing<Add>("add", &kernels);
  AddRing<Sub>("sub", &kernels);
  AddRing<Mul>("mul", &kernels);
  AddKernel<Div, float>("div", &kernels);
  AddKernel<Div, double>("div", &kernels);
  return kernels;
}

}  // namespace rml::providers::cpu
