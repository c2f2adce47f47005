// The tensors that a sample describes.
#pragma once

#include <optional>
#include <vector>

#include "rml/core/expected.h"
#include "rml/core/tensor.h"
#include "rml/ir/op_def.h"
#include "rml/ir/sample.h"

namespace rml::ops {

// Dtypes to test an operator with: one for each type variable.
struct TypeChoice {
  std::vector<core::DType> dtypes;                  // in the order of op.types
  std::string ToString(const ir::OpDef& op) const;  // "T=f32, I=i64"
};

// Every dtype of the first variable, with the first of the others; and every dtype of each other
// variable, with the first of the rest.
std::vector<TypeChoice> TypeChoices(const ir::OpDef& op);

// The dtype of input i: the sample's own, the variable's choice, or a fixed one; f32 for "*".
core::DType InputDType(const ir::OpDef& op, const ir::Sample& sample, const TypeChoice& choice,
                       int i);

// Values depend on the sample, the input and `seed` alone. Undefined for what is left out.
core::Expected<std::vector<core::Tensor>> SampleTensors(const ir::OpDef& op,
                                                        const ir::Sample& sample,
                                                        const TypeChoice& choice,
                                                        uint64_t seed = 0);

}  // namespace rml::ops
