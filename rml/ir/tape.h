// TapeNode: what an eager call leaves behind in gradient mode, so that a backward pass can follow
// it. Nodes own their inputs; a value owns the node that made it. Chains of any length are
// destroyed without recursion.
#pragma once

#include <cstdint>
#include <vector>

#include "rml/core/tensor.h"
#include "rml/ir/attributes.h"
#include "rml/ir/op_def.h"
#include "rml/ir/value.h"

namespace rml::ir {

class TapeNode {
 public:
  TapeNode(const OpDef& op_def, Attributes call_attributes, std::span<const Value> call_inputs,
           std::vector<core::Tensor> call_outputs);

  const OpDef& op;
  const Attributes attributes;
  Values inputs;                      // released by the backward pass that has used them
  std::vector<core::Tensor> outputs;  // saved ones too; tensors, for values would own this node
  const uint64_t order;               // later calls of the process have larger ones
  bool released = false;
};

// Whether eager calls of this thread leave nodes behind; on at first.
bool GradientMode();

// Sets the mode for a scope.
class GradientModeGuard {
 public:
  explicit GradientModeGuard(bool enabled);
  ~GradientModeGuard();
  GradientModeGuard(const GradientModeGuard&) = delete;
  GradientModeGuard& operator=(const GradientModeGuard&) = delete;

 private:
  const bool before_;
};

}  // namespace rml::ir
