#include "rml/ops/eager.h"

#include <mutex>
#include <unordered_map>

#include "rml/ir/graph.h"
#include "rml/ir/tape.h"

namespace rml::ops {

using core::Expected;
using core::Status;
using core::Tensor;
using ir::OpCall;
using ir::Value;
using ir::Values;

namespace {

using Inputs = core::InlineVector<OpCall::Input, 4>;
using Tensors = core::InlineVector<const Tensor*, 4>;

std::string SignatureOf(const Choice& choice, const OpCall& call) {
  std::string key =
      core::StrCat(choice.provider->name(), " ", choice.kernel->name, " ", call.op().name);
  for (const OpCall::Input& input : call.all_inputs())
    key += input.given ? input.type.ToString() : "-";
  for (size_t i = 0; i < call.op().attributes.size(); ++i) {
    key += ToString(call.attributes().at(call.op().attributes, i));
    key += ';';
  }
  return key;
}

// The largest shape that the type allows, to allocate for.
Expected<core::Shape> LargestShape(const ir::Type& type) {
  if (type.dims.is_static()) return type.dims.shape();
  std::array<int64_t, core::kMaxRank> dims = {};
  for (int i = 0; i < type.rank(); ++i) dims[static_cast<size_t>(i)] = type.dims[i].max();
  return core::Shape::Make({dims.data(), static_cast<size_t>(type.rank())});
}

}  // namespace

struct EagerBuilder::Cache {
  std::mutex mutex;
  // Every kernel of an operator, in the order of asking.
  std::unordered_map<const ir::OpDef*, std::vector<Choice>> kernels;
  std::unordered_map<std::string, std::shared_ptr<const Prepared>> prepared;
};

EagerBuilder::EagerBuilder(const core::RunContext& context, ProviderList providers,
                           const ir::OpSource& operators)
    : context_(context),
      providers_(std::move(providers)),
      operators_(operators),
      cache_(std::make_unique<Cache>()) {}

EagerBuilder::~EagerBuilder() = default;

Expected<Choice> EagerBuilder::Choose(const OpCall& call, const core::Device& device) {
  const std::vector<Choice>* choices = nullptr;
  {
    const std::scoped_lock lock(cache_->mutex);
    const auto [place, added] = cache_->kernels.try_emplace(&call.op());
    if (added) {
      for (const Provider* provider : providers_) {
        for (const Kernel& kernel : provider->Kernels(call.op().name))
          place->second.push_back({provider, &kernel});
      }
    }
    choices = &place->second;  // never changed again, and never moved
  }
  for (const Choice& choice : *choices) {
    if (!choice.provider->RunsOn(device)) continue;
    if (choice.kernel->accepts == nullptr || !choice.kernel->accepts(call)) return choice;
  }
  return ChooseKernel(providers_, call, device);  // for its message
}

Expected<Value> EagerBuilder::Constant(Tensor tensor) { return Value(std::move(tensor)); }

Expected<std::vector<Tensor>> EagerBuilder::Compute(const OpCall& call,
                                                    std::span<const Tensor* const> inputs,
                                                    std::span<const ir::Type> types) {
  core::Allocator& memory = context_.GetAllocator();
  RML_ASSIGN(const Choice choice, Choose(call, memory.device()));

  std::shared_ptr<const Prepared> prepared;
  if (choice.kernel->prepare != nullptr) {
    // What holds graphs is not cached: two graphs of one text may hold different constants.
    const std::string key = call.op().takes_graph() ? std::string() : SignatureOf(choice, call);
    const std::scoped_lock lock(cache_->mutex);
    if (const auto known = cache_->prepared.find(key);
        !key.empty() && known != cache_->prepared.end()) {
      prepared = known->second;
    } else {
      RML_ASSIGN(prepared, choice.kernel->prepare(call, context_));
      if (!key.empty()) cache_->prepared.emplace(key, prepared);
    }
  }

  std::vector<Tensor> outputs;
  core::InlineVector<core::Shape, 2> extents;
  outputs.reserve(types.size());
  for (const ir::Type& type : types) {
    RML_ASSIGN(const core::Shape shape, LargestShape(type));
    RML_ASSIGN(outputs.emplace_back(), Tensor::Empty(type.dtype, shape, memory));
    extents.push_back(shape);
  }
  for (const ir::Alias& alias : call.op().aliases) {
    RML_TRY(inputs[static_cast<size_t>(alias.in)]->CopyTo(outputs[static_cast<size_t>(alias.out)]));
  }

  KernelArgs args;
  args.call = &call;
  args.inputs = inputs;
  args.outputs = outputs;
  args.prepared = prepared.get();
  args.context = &context_;
  args.extents = extents;
  std::shared_ptr<core::Buffer> workspace;
  if (choice.kernel->workspace != nullptr) {
    const int64_t bytes = choice.kernel->workspace(call, prepared.get(), context_);
    if (bytes > 0) {
      RML_ASSIGN(workspace, core::Buffer::Allocate(core::Cpu(), bytes));
      RML_ASSIGN(args.workspace, workspace->MutableHostView());
    }
  }
  const core::ScopedEvent event(context_.events, "ops", call.op().name);
  RML_TRY(choice.kernel->run(args));

  for (size_t i = 0; i < outputs.size(); ++i) {
    if (types[i].dims.is_static()) continue;
    for (int axis = 0; axis < extents[i].rank(); ++axis) {
      if (extents[i][axis] == outputs[i].dim(axis)) continue;
      RML_ASSIGN(outputs[i], outputs[i].Slice(axis, 0, extents[i][axis]));
    }
    RML_ASSIGN(outputs[i], outputs[i].Contiguous(memory));
  }
  return outputs;
}

Expected<Values> EagerBuilder::Call(const ir::OpDef& op, std::span<const Value> inputs,
                                    const ir::Attributes& attributes) {
  core::Device& device = context_.GetAllocator().device();
  Inputs known;
  Tensors tensors;
  bool wants_gradient = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = inputs[i];
    if (value.traced()) {
      return core::FailedPrecondition(op.name, ": a value that is being traced, ",
                                      value.graph()->NameOf(value.id()),
                                      ", has no content to compute with");
    }
    known.push_back({.type = {}, .given = value.defined()});
    tensors.push_back(nullptr);
    if (!value.defined()) continue;
    known.back().type = value.type();
    tensors.back() = &value.tensor();
    wants_gradient = wants_gradient || value.requires_grad();
    if (&value.tensor().device() != &device) {
      return core::InvalidArgument(
          op.name, ": ", op.inputs.empty() ? "input" : op.input_def(static_cast<int>(i)).name,
          " is on ", value.tensor().device().name(), " and the call runs on ", device.name(),
          "; copy it there");
    }
  }
  const OpCall call(op, known, attributes);
  ir::Types types;
  RML_TRY(ir::InferTypes(call, &types));
  auto outputs = Compute(call, tensors, types);
  if (!outputs.ok()) {
    const bool named = outputs.status().message().starts_with(op.name);
    return named ? outputs.status() : outputs.status().WithContext(op.name);
  }

  Values values;
  for (const Tensor& tensor : *outputs) values.push_back(Value(tensor));
  if (wants_gradient && ir::GradientMode() && !op.no_gradient) {
    const auto node = std::make_shared<ir::TapeNode>(op, attributes, inputs, *std::move(outputs));
    for (size_t i = 0; i < values.size(); ++i) {
      if (ir::CarriesGradient(values[i].dtype())) values[i].set_producer(node, static_cast<int>(i));
    }
  }
  return values;
}

}  // namespace rml::ops
