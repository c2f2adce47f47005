// OpCase: one operator, one choice of dtypes, one sample: what the checks of this folder run on.
#pragma once

#include <memory>
#include <optional>
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
  std::shared_ptr<const ir::Sample> sample;
  size_t sample_number = 0;
  ir::Attributes attributes;
  std::vector<core::Tensor> inputs;

  bool grown = false;

  std::string ToString() const;                  // "top_k, sample 2, T=f32"
  std::vector<ir::OpCall::Input> known() const;  // its inputs' types
};

// The cases of an operator: every sample with each choice of dtypes that it can have. `quick` takes
// each choice with one sample and each sample with one choice.
core::Expected<std::vector<OpCase>> CasesOf(const ir::OpDef& op, bool quick);

// The same with axes that may be split grown to odd sizes, so that kernels have whole vectors,
// tails and several chunks of work; nothing where there is no such axis or the result would be too
// much work. No attribute changes: axes that attributes follow stay as they are.
core::Expected<std::optional<OpCase>> GrownCase(const OpCase& c);

// The attributes of the case on one piece of an axis.
core::Expected<ir::Attributes> LocalAttributes(const OpCase& c, const ir::AxisPiece& piece);
// Whether attributes state the axis' size, or anything else that a piece must change.
bool AttributesFollow(const OpCase& c, const ir::NamedAxis& axis);

// Those that gradients are checked on: smooth samples, in f64 wherever that is allowed.
core::Expected<std::vector<OpCase>> GradientCasesOf(const ir::OpDef& op);

ir::Values ValuesOf(std::span<const core::Tensor> tensors);

// The case through one builder; all outputs.
core::Expected<ir::Values> RunCase(ir::Builder& builder, const OpCase& c,
                                   std::span<const ir::Value> inputs);
// By the definition, on the calling thread.
core::Expected<ir::Values> RunReferenceCase(const OpCase& c);

}  // namespace rml::ops
