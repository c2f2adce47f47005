#include "rml/cli/bench/contender.h"

#include <array>
#include <chrono>
#include <cmath>

namespace rml::cli {

using core::Expected;
using core::Status;
using core::Tensor;

LoadedCase::LoadedCase(const KernelCase& c, std::vector<Tensor> values,
                       std::vector<ir::OpCall::Input> types_of_inputs)
    : description(c),
      inputs(std::move(values)),
      known(std::move(types_of_inputs)),
      call(*c.op, known, c.attributes) {}

Expected<std::unique_ptr<LoadedCase>> LoadedCase::Make(const KernelCase& c) {
  RML_ASSIGN(std::vector<Tensor> values, TensorsOf(c));
  std::vector<ir::OpCall::Input> known;
  for (size_t i = 0; i < values.size(); ++i) {
    ir::OpCall::Input& input = known.emplace_back();
    input.given = values[i].defined();
    if (!input.given) continue;
    input.type = {values[i].dtype(), ir::Dims(values[i].shape())};
    // The tensor stays where it is when the vector moves.
    if (c.inputs[i].constant) input.constant = &values[i];
  }
  auto loaded = std::make_unique<LoadedCase>(c, std::move(values), std::move(known));
  RML_TRY(ir::InferTypes(loaded->call, &loaded->types));
  loaded->cost = ir::CostOf(loaded->call, loaded->types);
  return loaded;
}

namespace {

class KernelContender final : public Contender {
 public:
  KernelContender(const LoadedCase& c, const ops::Kernel& kernel, const core::RunContext& context)
      : case_(c), kernel_(kernel), context_(context) {}

  Status Prepare() {
    if (kernel_.prepare != nullptr) {
      RML_ASSIGN(prepared_, kernel_.prepare(case_.call, context_));
    }
    for (const ir::Type& type : case_.types) {
      std::array<int64_t, core::kMaxRank> dims = {};
      for (int axis = 0; axis < type.rank(); ++axis)
        dims[static_cast<size_t>(axis)] = type.dims[axis].max();
      RML_ASSIGN(const core::Shape shape,
                 core::Shape::Make({dims.data(), static_cast<size_t>(type.rank())}));
      RML_ASSIGN(outputs_.emplace_back(), Tensor::Zeros(type.dtype, shape, core::Cpu()));
      full_.push_back(shape);
    }
    for (const ir::Alias& alias : case_.call.op().aliases) {
      if (!case_.call.has(alias.in)) continue;
      RML_TRY(case_.inputs[static_cast<size_t>(alias.in)].CopyTo(
          outputs_[static_cast<size_t>(alias.out)]));
    }
    for (const Tensor& tensor : case_.inputs)
      pointers_.push_back(tensor.defined() ? &tensor : nullptr);
    args_.call = &case_.call;
    args_.inputs = pointers_;
    args_.outputs = outputs_;
    args_.prepared = prepared_.get();
    args_.context = &context_;
    if (kernel_.workspace != nullptr) {
      const int64_t bytes = kernel_.workspace(case_.call, prepared_.get(), context_);
      if (bytes > 0) {
        RML_ASSIGN(workspace_, core::Buffer::Allocate(core::Cpu(), bytes));
        RML_ASSIGN(args_.workspace, workspace_->MutableHostView());
      }
    }
    return Call();
  }

  Expected<double> Time(double seconds) override {
    using Clock = std::chrono::steady_clock;
    const auto since = [](Clock::time_point start) {
      return std::chrono::duration<double>(Clock::now() - start).count();
    };
    if (calls_ == 0) {  // how many calls make a slice; the first ones find the caches cold
      RML_TRY(Call());
      for (calls_ = 1;; calls_ *= 4) {
        const auto start = Clock::now();
        for (int64_t i = 0; i < calls_; ++i) RML_TRY(Call());
        const double took = since(start);
        if (took < seconds / 4 && calls_ < int64_t{1} << 40) continue;
        calls_ = std::max<int64_t>(
            1, static_cast<int64_t>(std::ceil(static_cast<double>(calls_) * seconds / took)));
        break;
      }
    } else {
      RML_TRY(Call());  // the one before ours had the caches
    }
    const auto start = Clock::now();
    for (int64_t i = 0; i < calls_; ++i) RML_TRY(Call());
    return since(start) / static_cast<double>(calls_);
  }

  Expected<Tensor> Output() override {
    if (outputs_.empty()) return core::NotFound("no output");
    Tensor output = outputs_[0];
    for (int axis = 0; axis < output.rank(); ++axis) {
      if (extents_[0][axis] == output.dim(axis)) continue;
      RML_ASSIGN(output, output.Slice(axis, 0, extents_[0][axis]));
    }
    return output;
  }

 private:
  Status Call() {
    extents_ = full_;
    args_.extents = extents_;
    return kernel_.run(args_);
  }

  const LoadedCase& case_;
  const ops::Kernel& kernel_;
  const core::RunContext& context_;
  std::shared_ptr<const ops::Prepared> prepared_;
  std::vector<Tensor> outputs_;
  std::vector<core::Shape> full_;
  std::vector<core::Shape> extents_;
  std::vector<const Tensor*> pointers_;
  std::shared_ptr<core::Buffer> workspace_;
  ops::KernelArgs args_;
  int64_t calls_ = 0;
};

}  // namespace

Expected<std::unique_ptr<Contender>> MakeKernelContender(const LoadedCase& c,
                                                         const ops::Kernel& kernel,
                                                         const core::RunContext& context) {
  auto contender = std::make_unique<KernelContender>(c, kernel, context);
  RML_TRY(contender->Prepare());
  return std::unique_ptr<Contender>(std::move(contender));
}

}  // namespace rml::cli
