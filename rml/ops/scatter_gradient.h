// The gradient of an operator that scatters: y = x, and y (+)= updates at the places that indices
// name, with a `reduce` of none, add, mul, max or min. One rule serves every way to name places.
#pragma once

#include <string_view>

#include "rml/ir/attributes.h"
#include "rml/ir/expr_call.h"

namespace rml::ops {

// For a call of (x, indices, updates). `gather` is the operator that reads, with the attributes
// `places`, what the call writes.
ir::Values ScatterGradient(const ir::ExprCall& call, std::string_view gather, ir::AttrList places);

}  // namespace rml::ops
