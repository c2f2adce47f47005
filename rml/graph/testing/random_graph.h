// Random graphs for differential tests: valid by construction, the same for the same seed, and
// shrinking. A graph is grown from a recipe, a list of numbers that say which operator meets which
// values; any part of a recipe is a recipe, so a failing one is made smaller by leaving steps out.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "rml/core/dtype.h"
#include "rml/core/tensor.h"
#include "rml/ir/graph.h"

namespace rml::graph::testing {

struct RecipeStep {
  uint32_t op = 0;
  uint32_t a = 0, b = 0, c = 0;  // operands and details, each modulo what there is
};
using Recipe = std::vector<RecipeStep>;

Recipe RandomRecipe(uint64_t seed, int steps);

// The graph of a recipe, with inputs of `dtype` (f32 or f64); steps that fit no values are left
// out. The outputs are all values that no node reads.
ir::Graph GrowGraph(const Recipe& recipe, core::DType dtype);
// Inputs for it, within [-1, 1].
std::vector<core::Tensor> RandomInputs(const ir::Graph& graph, uint64_t seed);

// The smallest recipe, step by step, for which `fails` still holds.
Recipe Shrink(Recipe recipe, const std::function<bool(const Recipe&)>& fails);

}  // namespace rml::graph::testing
