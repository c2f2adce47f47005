// SymbolBindings: what the symbolic dimensions of a graph stand for in one use of it.
#pragma once

#include <unordered_map>

#include "rml/core/expected.h"
#include "rml/ir/attributes.h"
#include "rml/ir/op_def.h"
#include "rml/ir/type.h"

namespace rml::ir {

class SymbolBindings {
 public:
  // Takes an argument of type `given` for a value of type `declared`: equal dtypes and ranks,
  // integers equal, symbols within their bounds and always the same. A dimension that is an
  // expression is checked once all of its symbols are bound, and ignored before.
  core::Status Bind(const Type& declared, const Type& given);
  // The same for a result: only symbols that are new are bound, the rest is the operator's
  // business.
  core::Status BindResult(const Type& declared, const Type& result);

  Dim Substitute(Dim dim) const;
  Dims Substitute(const Dims& dims) const;
  // Attributes with their dimensions substituted; shared with the given ones where nothing changes.
  core::Expected<Attributes> Substitute(const OpDef& op, const Attributes& attributes) const;

  bool empty() const { return bound_.empty(); }

 private:
  std::unordered_map<int64_t, Dim> bound_;  // by the symbol's code
};

}  // namespace rml::ir
