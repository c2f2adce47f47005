// Provider: a table of kernels. A provider adds speed or a device, never meaning: each of its
// kernels computes what the operator's definition says, and `rml ops check` holds it to that.
//
// A call is offered to the kernels of each provider in turn, from the fastest to the reference; the
// first that accepts it runs. One that refuses says why (`rml ops explain`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"
#include "rml/core/run_context.h"
#include "rml/core/tensor.h"
#include "rml/ir/op_call.h"

namespace rml::ops {

// What a kernel made of a call's signature before the first run: an algorithm, packed weights, a
// compiled program. Shared by all runs of that signature, and never changed by them.
class Prepared {
 public:
  virtual ~Prepared() = default;
};

struct KernelArgs {
  const ir::OpCall* call = nullptr;  // types are static, but for sizes that only the run knows
  // Null where an optional input was left out. Any strides; same device.
  std::span<const core::Tensor* const> inputs;
  const core::Tensor& in(size_t i) const { return *inputs[i]; }
  // Contiguous; laid out for the largest size. An aliased output holds its input's content.
  std::span<core::Tensor> outputs;
  const Prepared* prepared = nullptr;
  std::span<std::byte> workspace;
  const core::RunContext* context = nullptr;
  // For outputs whose size only the run knows: the kernel says how much of each axis is there.
  std::span<core::Shape> extents;  // one for each output; the full shape at first
};

struct Kernel {
  std::string_view op;
  std::string_view name;  // "vnni", "strided"; unique for one operator of one provider

  // Nothing when it accepts; else one sentence that says what it would have needed. Must be quick.
  using Refusal = std::optional<std::string>;
  Refusal (*accepts)(const ir::OpCall& call) = nullptr;  // null: every call
  // Null: nothing to prepare.
  core::Expected<std::shared_ptr<const Prepared>> (*prepare)(
      const ir::OpCall& call, const core::RunContext& context) = nullptr;
  int64_t (*workspace)(const ir::OpCall& call, const Prepared* prepared,
                       const core::RunContext& context) = nullptr;
  // What only the data shows (an index out of range) comes back here.
  core::Status (*run)(const KernelArgs& args) noexcept = nullptr;
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;  // "cpu": of messages, RML_PROVIDER and --provider
  // Whether its kernels take tensors on this device.
  virtual bool RunsOn(const core::Device& device) const = 0;
  // From the fastest to the slowest.
  virtual std::span<const Kernel> Kernels(std::string_view op) const = 0;
  // All of them, for the support table and conformance.
  virtual std::vector<const Kernel*> AllKernels() const = 0;
};

// A provider over a fixed list of kernels.
class TableProvider : public Provider {
 public:
  TableProvider(std::string_view name, std::vector<Kernel> kernels);
  std::string_view name() const override { return name_; }
  bool RunsOn(const core::Device& device) const override;  // the host's memory
  std::span<const Kernel> Kernels(std::string_view op) const override;
  std::vector<const Kernel*> AllKernels() const override;

 private:
  std::string name_;
  std::vector<Kernel> kernels_;  // sorted by operator; the order of each one's kernels is kept
};

using ProviderList = std::vector<const Provider*>;

struct Choice {
  const Provider* provider = nullptr;
  const Kernel* kernel = nullptr;
};

// The first kernel that accepts; Unsupported, with every refusal, when none does.
core::Expected<Choice> ChooseKernel(const ProviderList& providers, const ir::OpCall& call,
                                    const core::Device& device);

// Every kernel in the order of asking, with its refusal; nothing where it accepts.
struct Verdict {
  Choice choice;
  Kernel::Refusal refusal;
};
std::vector<Verdict> ExplainChoice(const ProviderList& providers, const ir::OpCall& call,
                                   const core::Device& device);

}  // namespace rml::ops
