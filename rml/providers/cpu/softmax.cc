// Softmax along the last axis, f32.
#include "rml/kernels/softmax.h"

#include "rml/ops/host_data.h"
#include "rml/providers/cpu/kernel_lists.h"

namespace rml::providers::cpu {
namespace {

ops::Kernel::Refusal Accepts(const ir::OpCall& call) {
  const int64_t axis = call.integer("axis");
  if (axis != -1 && axis != call.rank(0) - 1) return "it takes the last axis only";
  return ops::WantsDType(call, 0, core::DType::kF32);
}

core::Status Run(const ops::KernelArgs& args) noexcept {
  const core::Tensor& y = args.outputs[0];
  if (y.elements() == 0) return {};
  RML_TRY(args.in(0).CopyTo(y));  // whatever its strides; the rows are then made in place
  float* const out = ops::MutableData<float>(y);
  const int64_t width = y.dim(-1);
  const int64_t rows = y.elements() / width;
  const int64_t rows_each = std::max<int64_t>(1, kElementsPerChunk / width);
  args.context->Run((rows + rows_each - 1) / rows_each, [&](int64_t chunk, int) {
    for (int64_t row = chunk * rows_each; row < std::min(rows, (chunk + 1) * rows_each); ++row) {
      kernels::Softmax(out + row * width, width, out + row * width);
    }
  });
  return {};
}

}  // namespace

std::vector<ops::Kernel> SoftmaxKernels() {
  ops::Kernel kernel;
  kernel.op = "softmax";
  kernel.name = "rows";
  kernel.accepts = Accepts;
  kernel.run = Run;
  return {kernel};
}

}  // namespace rml::providers::cpu
