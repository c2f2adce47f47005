// Sums over leading or trailing axes of contiguous f32 and f64. Partial sums are in double, in an
// order that follows the shape.
#include <algorithm>

#include "rml/ops/host_data.h"
#include "rml/providers/cpu/kernel_lists.h"

namespace rml::providers::cpu {
namespace {

// Whether the axes are the last ones (Trailing) or the first (Leading); all are both.
enum class Form { kTrailing, kLeading, kOther };

Form FormOf(const ir::OpCall& call) {
  const auto axes = call.axes("axes", call.rank(0));
  const auto count = static_cast<int64_t>(axes->size());
  bool trailing = true;
  bool leading = true;
  for (int64_t i = 0; i < count; ++i) {
    leading = leading && (*axes)[static_cast<size_t>(i)] == i;
    trailing = trailing && (*axes)[static_cast<size_t>(i)] == call.rank(0) - count + i;
  }
  return trailing ? Form::kTrailing : leading ? Form::kLeading : Form::kOther;
}

template <core::DType kDType>
ops::Kernel::Refusal Accepts(const ir::OpCall& call) {
  if (FormOf(call) == Form::kOther) return "it takes leading or trailing axes only";
  return ops::WantsDType(call, 0, kDType);
}

template <typename T>
core::Status Run(const ops::KernelArgs& args) noexcept {
  RML_ASSIGN(const core::Tensor x, args.in(0).Contiguous(core::Cpu()));
  const T* const in = ops::Data<T>(x);
  T* const out = ops::MutableData<T>(args.outputs[0]);
  const int64_t outputs = args.outputs[0].elements();
  const int64_t each = outputs == 0 ? 0 : x.elements() / outputs;
  const bool trailing = FormOf(*args.call) == Form::kTrailing;
  const int64_t outputs_each = std::max<int64_t>(1, kElementsPerChunk / std::max<int64_t>(1, each));
  args.context->Run((outputs + outputs_each - 1) / outputs_each, [&](int64_t chunk, int) {
    for (int64_t o = chunk * outputs_each; o < std::min(outputs, (chunk + 1) * outputs_each); ++o) {
      double sum = 0;
      for (int64_t i = 0; i < each; ++i)
        sum += static_cast<double>(trailing ? in[o * each + i] : in[i * outputs + o]);
      out[o] = static_cast<T>(sum);
    }
  });
  return {};
}

}  // namespace

std::vector<ops::Kernel> SumKernels() {
  ops::Kernel kernel;
  kernel.op = "sum";
  kernel.name = "f32";
  kernel.accepts = Accepts<core::DType::kF32>;
  kernel.run = Run<float>;
  ops::Kernel wide = kernel;
  wide.name = "f64";
  wide.accepts = Accepts<core::DType::kF64>;
  wide.run = Run<double>;
  return {kernel, wide};
}

}  // namespace rml::providers::cpu
