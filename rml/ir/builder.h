// Builder: makes calls of operators. The eager one (rml/ops/eager.h) computes at once; the trace
// builder only infers, and appends to a graph. Code that is written against a Builder, such as
// gradients and decompositions, serves both.
#pragma once

#include <span>

#include "rml/core/expected.h"
#include "rml/core/tensor.h"
#include "rml/ir/attributes.h"
#include "rml/ir/op_def.h"
#include "rml/ir/value.h"

namespace rml::ir {

class OpSource;

class Builder {
 public:
  virtual ~Builder() = default;

  // All outputs of the call, saved ones too. Undefined inputs are optional ones that are left out.
  // Messages begin with the operator's name.
  virtual core::Expected<Values> Call(const OpDef& op, std::span<const Value> inputs,
                                      const Attributes& attributes) = 0;

  // A value that holds this tensor.
  virtual core::Expected<Value> Constant(core::Tensor tensor) = 0;

  // The memory in which constants are made.
  virtual core::Allocator& allocator() = 0;

  // Where operators are found by name.
  virtual const OpSource& operators() const = 0;

  // The same by name, throwing rml::Error: for expressions.
  Values CallByName(std::string_view op, std::span<const Value> inputs,
                    std::span<const NamedAttr> attributes);
};

// Finds definitions; rml/ops/registry.h is one.
class OpSource {
 public:
  virtual ~OpSource() = default;
  // NotFound, with the nearest name.
  virtual core::Expected<const OpDef*> Find(std::string_view name) const = 0;
};

}  // namespace rml::ir
