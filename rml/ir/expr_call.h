// ExprCall: one call of an operator as expressions see it: what gradients and decompositions are
// written against. They build with `b()` (rml/ops/expr.h has the functions) and throw rml::Error.
#pragma once

#include <span>

#include "rml/ir/builder.h"
#include "rml/ir/op_call.h"
#include "rml/ir/value.h"

namespace rml::ir {

class ExprCall {
 public:
  ExprCall(Builder& builder, const OpCall& call, std::span<const Value> inputs)
      : builder_(builder), call_(call), inputs_(inputs) {}
  // For a gradient: `grads` of the outputs, undefined where none flows; `needs[i]` says whether
  // input i's is wanted.
  ExprCall(Builder& builder, const OpCall& call, std::span<const Value> inputs,
           std::span<const Value> outputs, std::span<const Value> grads,
           std::span<const bool> needs)
      : builder_(builder),
        call_(call),
        inputs_(inputs),
        outputs_(outputs),
        grads_(grads),
        needs_(needs) {}

  Builder& b() const { return builder_; }
  const OpCall& call() const { return call_; }  // types and attributes

  int inputs() const { return static_cast<int>(inputs_.size()); }
  std::span<const Value> all_inputs() const { return inputs_; }
  // Undefined for an optional input that is left out, also at the end.
  Value in(int i) const { return i < inputs() ? inputs_[static_cast<size_t>(i)] : Value(); }
  const Value& out(int i) const { return outputs_[static_cast<size_t>(i)]; }
  const Value& grad(int i) const { return grads_[static_cast<size_t>(i)]; }
  std::span<const Value> all_grads() const { return grads_; }
  bool needs(int i) const { return i < inputs() && needs_[static_cast<size_t>(i)]; }

 private:
  Builder& builder_;
  const OpCall& call_;
  std::span<const Value> inputs_;
  std::span<const Value> outputs_;
  std::span<const Value> grads_;
  std::span<const bool> needs_;
};

}  // namespace rml::ir
