// OpCall: one call of an operator, as far as it is known before it runs. It is what inference,
// costs, axes and kernels look at.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rml/core/expected.h"
#include "rml/core/tensor.h"
#include "rml/ir/attributes.h"
#include "rml/ir/op_def.h"
#include "rml/ir/type.h"

namespace rml::ir {

class OpCall {
 public:
  struct Input {
    Type type;
    bool given = true;                       // false: an optional input that was left out
    const core::Tensor* constant = nullptr;  // the value, where it is known already
  };

  OpCall(const OpDef& op, std::span<const Input> inputs, const Attributes& attributes)
      : op_(op), inputs_(inputs), attributes_(attributes) {}

  const OpDef& op() const { return op_; }
  const Attributes& attributes() const { return attributes_; }

  int inputs() const { return static_cast<int>(inputs_.size()); }
  bool has(int i) const { return i < inputs() && inputs_[static_cast<size_t>(i)].given; }
  const Type& input(int i) const { return inputs_[static_cast<size_t>(i)].type; }
  std::span<const Input> all_inputs() const { return inputs_; }
  core::DType dtype(int i) const { return input(i).dtype; }
  int rank(int i) const { return input(i).dims.rank(); }
  Dim dim(int i, int axis) const { return input(i).dims.dim(axis); }
  // Integers that are known before the run, from an input of i64 or i32 that is constant.
  std::optional<Ints> constant_ints(int i) const;
  // "x", or "inputs[2]" of many: for messages.
  std::string input_name(int i) const;

  // Attributes by name; RML_CHECKs that the operator declares them with this type.
  template <typename T>
  const T& attr(std::string_view name) const {
    return std::get<T>(attributes_.at(op_.attributes, AttrPlace(name)));
  }
  bool flag(std::string_view name) const { return attr<bool>(name); }
  int64_t integer(std::string_view name) const { return attr<int64_t>(name); }
  double number(std::string_view name) const { return attr<double>(name); }
  const std::string& text(std::string_view name) const { return attr<std::string>(name); }
  const Ints& ints(std::string_view name) const { return attr<Ints>(name); }

  // The attribute `name`, an axis of a value of this rank counted from the end where it is
  // negative.
  core::Expected<int> axis(std::string_view name, int rank) const;
  // The same for a list; sorted, each once. An empty list means all where `empty_is_all`.
  core::Expected<Ints> axes(std::string_view name, int rank, bool empty_is_all = true) const;

  // A dimension that only the run knows, at most `max`. Each call makes another one while tracing;
  // `number` tells those of one operator apart.
  Dim FreshDim(int number, Dim max) const;
  void set_fresh_prefix(std::string_view prefix) { fresh_prefix_ = prefix; }

 private:
  size_t AttrPlace(std::string_view name) const;

  const OpDef& op_;
  std::span<const Input> inputs_;
  const Attributes& attributes_;
  std::string_view fresh_prefix_;
};

// -axes count from the end. "axis 3 is outside a value of 2 dimensions".
core::Expected<int> NormalizeAxis(int64_t axis, int rank);

// Checks arity, dtypes and the axes' text, infers, and checks what came out. Messages begin with
// the operator's name: "matmul: inner dimensions 4 and 5 differ".
core::Status InferTypes(const OpCall& call, Types* outputs);

// The operator's cost, or the default: one floating-point operation for each element of the
// outputs. All types are static.
Cost CostOf(const OpCall& call, std::span<const Type> outputs);

}  // namespace rml::ir
