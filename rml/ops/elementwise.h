// The form that elementwise operators share. Each is still one file of rml/ops/defs: it says its
// formula and its gradient, and gets shapes, axes and samples from here.
#pragma once

#include <functional>
#include <vector>

#include "rml/ir/expr_call.h"
#include "rml/ir/op_def.h"
#include "rml/ops/broadcast.h"
#include "rml/ops/expr.h"

namespace rml::ops {

// y = f(x). The reference is f on doubles: `kF(x)` for one element.
ir::OpDef Unary(std::string_view name, std::string_view doc, double (*f)(double));
// The same for integers too: fi and fu on signed and unsigned ones.
ir::OpDef Unary(std::string_view name, std::string_view doc, double (*f)(double),
                int64_t (*fi)(int64_t), uint64_t (*fu)(uint64_t));

// y = f(a, b), broadcast.
ir::OpDef Binary(std::string_view name, std::string_view doc, double (*f)(double, double));
ir::OpDef Binary(std::string_view name, std::string_view doc, double (*f)(double, double),
                 int64_t (*fi)(int64_t, int64_t), uint64_t (*fu)(uint64_t, uint64_t));

// Small inputs that matter for one and two operands: empty, one element, tails, broadcast, large.
std::vector<ir::Sample> UnarySamples(const ir::Fill& fill = ir::Fill::Normal());
std::vector<ir::Sample> BinarySamples(const ir::Fill& a = ir::Fill::Normal(),
                                      const ir::Fill& b = ir::Fill::Normal());

// Gradients of a binary operator, from those with respect to the broadcast operands: each is summed
// to its operand's shape. A function is called only where its gradient is needed.
ir::Values BinaryGradients(const ir::ExprCall& call,
                           const std::function<ir::Value(const Emit&)>& da,
                           const std::function<ir::Value(const Emit&)>& db);

// Input 0 is read once and a value of its type is written, with so many operations for an element.
ir::Cost PassCost(const ir::OpCall& call, double operations);

core::Status InferLikeFirst(const ir::OpCall& call,
                            ir::Types* outputs);  // one output of input 0's type
core::Status InferBroadcast(const ir::OpCall& call,
                            ir::Types* outputs);  // of all inputs' shape, input 0's dtype

}  // namespace rml::ops
