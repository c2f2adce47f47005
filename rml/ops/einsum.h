// The equation of einsum, read for the values of one call: which index each of their axes is.
#pragma once

#include <string>
#include <vector>

#include "rml/ir/axes.h"
#include "rml/ir/op_call.h"

namespace rml::ops {

struct Equation {
  // For each input, the index of each axis; -1 where an axis of one element is broadcast. One that
  // occurs twice in an input takes the diagonal.
  std::vector<std::vector<int>> inputs;
  std::vector<int> output;
  std::vector<ir::Dim> sizes;  // of each index

  std::vector<int> Summed() const;  // indices that the output does not have
  bool IsDiagonal(int index) const;
};

core::Expected<Equation> ReadEquation(const ir::OpCall& call);
core::Expected<ir::Axes> EinsumAxes(const ir::OpCall& call);

// An index as equations spell it; RML_CHECKs that it is below kMostIndices.
inline constexpr int kMostIndices = 52;
char IndexLetter(int index);

}  // namespace rml::ops
