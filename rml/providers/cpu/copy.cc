// Operators that only move elements: views of the input, copied into the output.
#include <algorithm>
#include <numeric>

#include "rml/ops/host_data.h"
#include "rml/providers/cpu/kernel_lists.h"

namespace rml::providers::cpu {
namespace {

core::Status Reshape(const ops::KernelArgs& args) noexcept {
  RML_ASSIGN(const core::Tensor view, args.outputs[0].Reshape(args.in(0).shape()));
  return args.in(0).CopyTo(view);
}

core::Status BroadcastTo(const ops::KernelArgs& args) noexcept {
  RML_ASSIGN(const core::Tensor view, args.in(0).BroadcastTo(args.outputs[0].shape()));
  return view.CopyTo(args.outputs[0]);
}

core::Status Transpose(const ops::KernelArgs& args) noexcept {
  const core::Tensor& x = args.in(0);
  std::vector<int> order;
  for (const int64_t axis : args.call->ints("order"))
    order.push_back(static_cast<int>(axis < 0 ? axis + x.rank() : axis));
  if (order.empty()) {
    order.resize(static_cast<size_t>(x.rank()));
    std::iota(order.rbegin(), order.rend(), 0);
  }
  RML_ASSIGN(const core::Tensor view, x.Permute(order));
  return view.CopyTo(args.outputs[0]);
}

ops::Kernel Make(std::string_view op, core::Status (*run)(const ops::KernelArgs&) noexcept) {
  ops::Kernel kernel;
  kernel.op = op;
  kernel.name = "view";
  kernel.run = run;
  return kernel;
}

}  // namespace

std::vector<ops::Kernel> CopyKernels() {
  return {Make("reshape", Reshape), Make("broadcast_to", BroadcastTo),
          Make("transpose", Transpose)};
}

}  // namespace rml::providers::cpu
