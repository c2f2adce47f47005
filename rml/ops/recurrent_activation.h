// The activations of recurrent operators: lists of names, and numbers for those that take some.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "rml/ir/op_call.h"
#include "rml/ops/expr.h"

namespace rml::ops {

struct Activation {
  std::string_view name;
  double alpha = 0;
  double beta = 0;
};

// How an operator names the activations of one direction: a text attribute, "sigmoid, tanh, tanh".
// A list for one direction serves both. `activation_alpha` and `activation_beta` hold numbers for
// those that take one, in order; ONNX's defaults where they end.
struct RecurrentActivations {
  std::string_view attribute = "activations";
  std::string_view standard;

  int count() const { return 1 + static_cast<int>(std::ranges::count(standard, ',')); }
};

std::vector<ir::AttrDef> ActivationAttributes(const RecurrentActivations& form);

// Of all directions, one after the other.
core::Expected<std::vector<Activation>> ActivationsOf(const RecurrentActivations& form,
                                                      const ir::OpCall& call, int directions);

ir::Value Activate(const Emit& e, const Activation& f, const ir::Value& x);

// "relu, tanh, …": every name that there is.
std::string ActivationNames();

}  // namespace rml::ops
