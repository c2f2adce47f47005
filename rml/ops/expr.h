// Emit: calls of operators by function, on the values of one builder. Gradients and decompositions
// are written with it, so that they read like the formula; it throws rml::Error.
//
//   const Emit e(call.b());
//   return {e.mul(call.grad(0), e.cos(call.in(0)))};
#pragma once

#include <initializer_list>
#include <string_view>

#include "rml/core/error.h"
#include "rml/core/expected.h"
#include "rml/ir/builder.h"
#include "rml/ir/value.h"

namespace rml::ops {

// The value, or the failure as the exception of the expression layer.
template <typename T>
T OrThrow(core::Expected<T> expected) {
  if (!expected.ok()) throw Error(expected.status());
  return *std::move(expected);
}

class Emit {
 public:
  using Value = ir::Value;
  using Values = ir::Values;

  explicit Emit(ir::Builder& builder) : builder_(builder) {}

  // Any operator: all its outputs, or its first.
  Values call(std::string_view op, std::initializer_list<Value> inputs,
              const ir::AttrList& attributes = {}) const;
  Values call(std::string_view op, std::span<const Value> inputs,
              const ir::AttrList& attributes = {}) const;
  Value one(std::string_view op, std::initializer_list<Value> inputs,
            const ir::AttrList& attributes = {}) const;

  // Elementwise, with NumPy's broadcasting.
  Value add(const Value& a, const Value& b) const { return one("add", {a, b}); }
  Value sub(const Value& a, const Value& b) const { return one("sub", {a, b}); }
  Value mul(const Value& a, const Value& b) const { return one("mul", {a, b}); }
  Value div(const Value& a, const Value& b) const { return one("div", {a, b}); }
  Value neg(const Value& x) const { return one("neg", {x}); }
  Value exp(const Value& x) const { return one("exp", {x}); }
  Value log(const Value& x) const { return one("log", {x}); }
  Value sqrt(const Value& x) const { return one("sqrt", {x}); }
  Value rsqrt(const Value& x) const { return one("rsqrt", {x}); }
  Value where(const Value& condition, const Value& a, const Value& b) const {
    return one("where", {condition, a, b});
  }
  Value cast(const Value& x, core::DType dtype) const {
    return x.dtype() == dtype ? x : one("cast", {x}, {{"dtype", dtype}});
  }

  // A number as a scalar of x's dtype, and operations with one.
  Value scalar(double number, core::DType dtype) const;
  Value like(const Value& x, double number) const { return scalar(number, x.dtype()); }
  Value add(const Value& x, double number) const { return add(x, like(x, number)); }
  Value mul(const Value& x, double number) const { return mul(x, like(x, number)); }
  Value full(double number, const ir::Type& type) const;
  Value zeros_like(const Value& x) const { return full(0, x.type()); }

  // A dimension as a scalar: a constant, or what a symbol will be when the graph runs.
  Value size(ir::Dim dim, core::DType dtype) const;

  // Shapes.
  Value reshape(const Value& x, const ir::Dims& dims) const;
  Value broadcast(const Value& x, const ir::Dims& dims) const;
  Value transpose(const Value& x, ir::Ints order) const;
  Value swap_last(const Value& x) const;  // the last two axes
  Value sum(const Value& x, ir::Ints axes, bool keep_dims = false) const;
  Value mean(const Value& x, ir::Ints axes, bool keep_dims = false) const;
  // The sum over what was broadcast: x's gradient, of the dims that the input had.
  Value sum_to(const Value& x, const ir::Dims& dims) const;
  // The same elements with the axes of one element that a reduction over `axes` dropped.
  Value restore(const Value& x, const ir::Ints& axes, int rank) const;

  Value matmul(const Value& a, const Value& b) const { return one("matmul", {a, b}); }

  ir::Builder& builder() const { return builder_; }

 private:
  ir::Builder& builder_;
};

// Gradients that add up; an undefined one is zero.
ir::Value AddGradients(const Emit& e, const ir::Value& a, const ir::Value& b);

}  // namespace rml::ops
