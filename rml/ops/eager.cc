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

using Tensors = core::InlineVector<const Tensor*, 4>;

// Plans that a builder keeps; past that it starts anew, so that shapes that never come back cost
// no memory.
constexpr size_t kMostPlans = 4096;

// The largest shape that the type allows, to allocate for.
Expected<core::Shape> LargestShape(const ir::Type& type) {
  if (type.dims.is_static()) return type.dims.shape();
  std::array<int64_t, core::kMaxRank> dims = {};
  for (int i = 0; i < type.rank(); ++i) dims[static_cast<size_t>(i)] = type.dims[i].max();
  return core::Shape::Make({dims.data(), static_cast<size_t>(type.rank())});
}

// splitmix64's finaliser, over what came before and what comes now.
uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

uint64_t HashOf(const ir::OpDef& op, std::span<const Value> inputs) {
  uint64_t hash = Mix(inputs.size(), reinterpret_cast<uintptr_t>(&op));
  for (const Value& value : inputs) {
    if (!value.defined()) {
      hash = Mix(hash, 1);
      continue;
    }
    const Tensor& tensor = value.tensor();
    hash = Mix(hash, static_cast<uint64_t>(tensor.dtype()) << 8 |
                         static_cast<uint64_t>(tensor.rank()) << 4 | 2);
    for (const int64_t dim : tensor.shape().dims()) hash = Mix(hash, static_cast<uint64_t>(dim));
  }
  return hash;
}

bool SameAttributes(const ir::OpDef& op, const ir::Attributes& a, const ir::Attributes& b) {
  if (a.all_default() && b.all_default()) return true;
  for (size_t i = 0; i < op.attributes.size(); ++i) {
    if (!AttrEqual(a.at(op.attributes, i), b.at(op.attributes, i))) return false;
  }
  return true;
}

}  // namespace

// All that a call needs beside its data, worked out once for a signature: the operator, its
// attributes, the dtypes and shapes of its inputs.
struct EagerBuilder::Plan {
  Plan(const ir::OpDef& op_def, std::span<const Value> inputs, ir::Attributes given)
      : op(op_def), attributes(std::move(given)), call(op, Known(inputs), attributes) {}

  bool Fits(const ir::OpDef& other, std::span<const Value> inputs,
            const ir::Attributes& given) const {
    if (&other != &op || inputs.size() != known.size()) return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].defined() != known[i].given) return false;
      if (!known[i].given) continue;
      const Tensor& tensor = inputs[i].tensor();
      if (tensor.dtype() != known[i].type.dtype || !(tensor.shape() == input_shapes[i]))
        return false;
    }
    return SameAttributes(op, attributes, given);
  }

  const ir::OpDef& op;
  const ir::Attributes attributes;
  std::vector<OpCall::Input> known;
  std::vector<core::Shape> input_shapes;
  const OpCall call;
  ir::Types types;                          // of the outputs
  std::vector<core::TensorLayout> layouts;  // the largest, where only the run knows the size
  bool sizes_known = true;                  // of all outputs
  const Kernel* kernel = nullptr;
  std::shared_ptr<const Prepared> prepared;
  int64_t workspace_bytes = 0;

 private:
  std::span<const OpCall::Input> Known(std::span<const Value> inputs) {
    for (const Value& value : inputs) {
      known.push_back(
          {.type = value.defined() ? value.type() : ir::Type(), .given = value.defined()});
      input_shapes.push_back(value.defined() ? value.tensor().shape() : core::Shape());
    }
    return known;
  }
};

struct EagerBuilder::Cache {
  std::mutex mutex;
  std::unordered_map<uint64_t, std::shared_ptr<const Plan>> plans;
};

EagerBuilder::EagerBuilder(const core::RunContext& context, ProviderList providers,
                           const ir::OpSource& operators)
    : context_(context),
      providers_(std::move(providers)),
      operators_(operators),
      cache_(std::make_unique<Cache>()) {}

EagerBuilder::~EagerBuilder() = default;

Expected<std::shared_ptr<const EagerBuilder::Plan>> EagerBuilder::MakePlan(
    const ir::OpDef& op, std::span<const Value> inputs, const ir::Attributes& attributes) {
  const auto plan = std::make_shared<Plan>(op, inputs, attributes);
  RML_TRY(ir::InferTypes(plan->call, &plan->types));
  for (const ir::Type& type : plan->types) {
    RML_ASSIGN(const core::Shape shape, LargestShape(type));
    RML_ASSIGN(plan->layouts.emplace_back(), core::TensorLayout::RowMajor(type.dtype, shape));
    plan->sizes_known = plan->sizes_known && type.dims.is_static();
  }
  RML_ASSIGN(const Choice choice,
             ChooseKernel(providers_, plan->call, context_.GetAllocator().device()));
  plan->kernel = choice.kernel;
  if (plan->kernel->prepare != nullptr) {
    RML_ASSIGN(plan->prepared, plan->kernel->prepare(plan->call, context_));
  }
  if (plan->kernel->workspace != nullptr)
    plan->workspace_bytes = plan->kernel->workspace(plan->call, plan->prepared.get(), context_);
  return plan;
}

Expected<std::shared_ptr<const EagerBuilder::Plan>> EagerBuilder::PlanOf(
    const ir::OpDef& op, std::span<const Value> inputs, const ir::Attributes& attributes) {
  // Calls with graphs are not kept: two graphs of one text may hold different constants.
  if (op.takes_graph()) return MakePlan(op, inputs, attributes);
  const uint64_t hash = HashOf(op, inputs);
  {
    const std::scoped_lock lock(cache_->mutex);
    if (const auto known = cache_->plans.find(hash);
        known != cache_->plans.end() && known->second->Fits(op, inputs, attributes))
      return known->second;
  }
  RML_ASSIGN(std::shared_ptr<const Plan> plan, MakePlan(op, inputs, attributes));
  const std::scoped_lock lock(cache_->mutex);
  if (cache_->plans.size() >= kMostPlans) cache_->plans.clear();
  cache_->plans[hash] = plan;
  return plan;
}

Expected<Value> EagerBuilder::Constant(Tensor tensor) { return Value(std::move(tensor)); }

Status EagerBuilder::Compute(const Plan& plan, std::span<const Tensor* const> inputs,
                             Outputs* outputs) {
  core::Allocator& memory = context_.GetAllocator();
  core::InlineVector<core::Shape, 2> extents;
  for (const core::TensorLayout& layout : plan.layouts) {
    RML_ASSIGN(outputs->emplace_back(), Tensor::Empty(layout, memory));
    extents.push_back(layout.shape);
  }
  for (const ir::Alias& alias : plan.op.aliases) {
    if (!plan.call.has(alias.in)) continue;
    RML_TRY(
        inputs[static_cast<size_t>(alias.in)]->CopyTo((*outputs)[static_cast<size_t>(alias.out)]));
  }

  KernelArgs args;
  args.call = &plan.call;
  args.inputs = inputs;
  args.outputs = *outputs;
  args.prepared = plan.prepared.get();
  args.context = &context_;
  args.extents = extents;
  std::shared_ptr<core::Buffer> workspace;
  if (plan.workspace_bytes > 0) {
    RML_ASSIGN(workspace, core::Buffer::Allocate(core::Cpu(), plan.workspace_bytes));
    RML_ASSIGN(args.workspace, workspace->MutableHostView());
  }
  const core::ScopedEvent event(context_.events, "ops", plan.op.name);
  RML_TRY(plan.kernel->run(args));

  for (size_t i = 0; !plan.sizes_known && i < outputs->size(); ++i) {
    if (plan.types[i].dims.is_static()) continue;
    Tensor& output = (*outputs)[i];
    for (int axis = 0; axis < extents[i].rank(); ++axis) {
      if (extents[i][axis] == output.dim(axis)) continue;
      RML_ASSIGN(output, output.Slice(axis, 0, extents[i][axis]));
    }
    RML_ASSIGN(output, output.Contiguous(memory));
  }
  return {};
}

Expected<Values> EagerBuilder::Call(const ir::OpDef& op, std::span<const Value> inputs,
                                    const ir::Attributes& attributes) {
  core::Device& device = context_.GetAllocator().device();
  Tensors tensors;
  bool wants_gradient = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = inputs[i];
    if (value.traced()) {
      return core::FailedPrecondition(op.name, ": a value that is being traced, ",
                                      value.graph()->NameOf(value.id()),
                                      ", has no content to compute with");
    }
    tensors.push_back(nullptr);
    if (!value.defined()) continue;
    tensors.back() = &value.tensor();
    wants_gradient = wants_gradient || value.requires_grad();
    if (&value.tensor().device() != &device) {
      return core::InvalidArgument(
          op.name, ": ", op.inputs.empty() ? "input" : op.input_def(static_cast<int>(i)).name,
          " is on ", value.tensor().device().name(), " and the call runs on ", device.name(),
          "; copy it there");
    }
  }
  const auto named = [&](const Status& status) {
    return status.message().starts_with(op.name) ? status : status.WithContext(op.name);
  };
  const auto plan = PlanOf(op, inputs, attributes);
  if (!plan.ok()) return named(plan.status());
  Outputs outputs;
  if (const Status status = Compute(**plan, tensors, &outputs); !status.ok()) return named(status);

  Values values;
  const bool taped = wants_gradient && ir::GradientMode() && !op.no_gradient;
  for (Tensor& tensor : outputs) values.push_back(Value(taped ? tensor : std::move(tensor)));
  if (taped) {
    const auto node = std::make_shared<ir::TapeNode>(
        op, attributes, inputs, std::vector<Tensor>(outputs.begin(), outputs.end()));
    for (size_t i = 0; i < values.size(); ++i) {
      if (ir::CarriesGradient(values[i].dtype())) values[i].set_producer(node, static_cast<int>(i));
    }
  }
  return values;
}

}  // namespace rml::ops
