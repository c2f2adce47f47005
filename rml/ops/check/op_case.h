// OpCase: one operator, one choice of dtypes, one sample: what the checks of this folder run on.
#pragma once

#include <string>
#include <vector>

#include "rml/core/run_context.h"
#include "rml/ir/op_call.h"
#include "rml/ir/op_def.h"
#include "rml/ops/check/sample_values.h"
#include "rml/ops/eager.h"

namespace rml::ops {

struct OpCase {
  const ir::OpDef* op = nullptr;
  TypeChoice choice;
  const ir::Sample* sample = nullptr;
  size_t sample_number = 0;
  ir::Attributes attributes;
  std::vector<core::Tensor> inputs;

  std::string ToString() const;  // "top_k, sample 2, T=f32"
};

// The cases of an operator: every sample with each choice of dtypes that it can have. `quick` takes
// each choice with one sample and each sample with one choice.
core::Expected<std::vector<OpCase>> CasesOf(const ir::OpDef& op, bool quick);

// Those that gradients are checked on: smooth samples, in f64 wherever that is allowed.
core::Expected<std::vector<OpCase>> GradientCasesOf(const ir::OpDef& op);

ir::Values ValuesOf(std::span<const core::Tensor> tensors);

// The case through one builder; all outputs.
core::Expected<ir::Values> RunCase(ir::Builder& builder, const OpCase& c,
                                   std::span<const ir::Value> inputs);
// By the definition, on the calling thread.
core::Expected<ir::Values> RunReferenceCase(const OpCase& c);

}  // namespace rml::ops
