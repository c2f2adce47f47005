#include "rml/ops/reference.h"

#include <algorithm>

#include "rml/core/convert.h"
#include "rml/core/error.h"
#include "rml/ir/expr_call.h"
#include "rml/ir/tape.h"
#include "rml/ops/eager.h"
#include "rml/ops/wide.h"

namespace rml::ops {

using core::Expected;
using core::Status;
using core::Tensor;
using ir::RefCall;

namespace {

Status RunDefinition(const KernelArgs& args) {
  std::vector<RefCall::Wide> inputs;
  for (const Tensor* const tensor : args.inputs) {
    if (tensor == nullptr) {
      inputs.emplace_back();
      continue;
    }
    RML_ASSIGN(inputs.emplace_back(), Widen(*tensor));
  }
  std::vector<RefCall::Wide> outputs;
  for (const Tensor& tensor : args.outputs)
    outputs.push_back(WideZeros(tensor.dtype(), tensor.shape()));
  RefCall call(*args.call, inputs, outputs, *args.context);
  RML_TRY(args.call->op().reference(call));
  for (size_t i = 0; i < outputs.size(); ++i) {
    RML_TRY(Narrow(outputs[i], args.outputs[i]));
    if (!outputs[i].extent.empty()) {
      RML_ASSIGN(args.extents[i], core::Shape::Make(outputs[i].extent));
    }
  }
  return {};
}

// A decomposition, computed in the widest dtypes and rounded at the end (steps in narrow ones would
// round many times), but for one that runs graphs.
Status RunDecomposition(const KernelArgs& args, const Provider& reference) {
  const ir::GradientModeGuard no_gradient(false);
  const core::RunContext host = {.pool = args.context->pool,
                                 .collectives = args.context->collectives};
  const ir::OpCall& narrow = *args.call;
  EagerBuilder builder(host, {&reference}, BuiltinOps());
  ir::Values values;
  std::vector<ir::OpCall::Input> types;
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    if (args.inputs[i] == nullptr) {
      values.push_back(ir::Value());
      types.push_back({.type = {}, .given = false});
      continue;
    }
    Tensor tensor;
    if (narrow.op().takes_graph()) {
      // As it is: its graph may take quantised blocks.
      RML_ASSIGN(tensor, args.in(i).Contiguous(core::Cpu()));
    } else {
      RML_ASSIGN(const RefCall::Wide wide, Widen(args.in(i)));
      RML_ASSIGN(tensor, Tensor::Empty(WideDType(args.in(i).dtype()), wide.shape, core::Cpu()));
      RML_TRY(Narrow(wide, tensor));
    }
    values.push_back(ir::Value(tensor));
    types.push_back({.type = values.back().type(), .constant = nullptr});
  }
  const ir::OpCall call(narrow.op(), types, narrow.attributes());
  ir::ExprCall expr(builder, call, values);
  const ir::Values results = narrow.op().decompose(expr);
  for (size_t i = 0; i < args.outputs.size(); ++i) {
    const Tensor& result = results[i].tensor();
    RML_ASSIGN(const RefCall::Wide wide, Widen(result));
    // Smaller where only the run knows the size.
    Tensor place = args.outputs[i];
    for (int axis = 0; axis < place.rank(); ++axis) {
      if (result.dim(axis) == place.dim(axis)) continue;
      RML_ASSIGN(place, place.Slice(axis, 0, result.dim(axis)));
    }
    RML_TRY(Narrow(wide, place));
    args.extents[i] = result.shape();
  }
  return {};
}

Status RunReference(const KernelArgs& args) noexcept {
  try {
    if (args.call->op().reference) return RunDefinition(args);
    return RunDecomposition(args, ReferenceProvider());
  } catch (const Error& error) {
    return error.status();
  }
}

class Reference final : public TableProvider {
 public:
  using TableProvider::TableProvider;
  bool RunsOn(const core::Device&) const override { return true; }
};

}  // namespace

std::unique_ptr<Provider> MakeReferenceProvider(const Registry& registry) {
  std::vector<Kernel> kernels;
  for (const ir::OpDef* op : registry.all()) {
    Kernel& kernel = kernels.emplace_back();
    kernel.op = op->name;
    kernel.name = "definition";
    kernel.run = RunReference;
  }
  return std::make_unique<Reference>("reference", std::move(kernels));
}

const Provider& ReferenceProvider() {
  static const Provider* const provider = MakeReferenceProvider(BuiltinOps()).release();
  return *provider;
}

}  // namespace rml::ops
