// What embedding_bag and its gradients share: bags of rows of a table.
//
// Bag b holds indices[offsets[b]] … indices[offsets[b + 1] - 1]: offsets has one more element than
// there are bags.
#pragma once

#include <cmath>
#include <vector>

#include "rml/ir/expr_call.h"
#include "rml/ir/ref_call.h"
#include "rml/ops/expr.h"
#include "rml/ops/indexing.h"

namespace rml::ops {

// Inputs: a table or a gradient [bags, width], and which of its rows make which bags.
namespace bag {
enum Input : int { kRows, kIndices, kOffsets, kWeights };
}  // namespace bag

// How many bags there are. Checks `mode` (sum, mean, sqrtn, max) and the inputs' dimensions.
core::Expected<ir::Dim> BagsOf(const ir::OpCall& call);
// The same where input 0 is a gradient, of the table of `rows` rows; not for max, whose gradient
// also depends on the table.
core::Status CheckBagGradient(const ir::OpCall& call);

// The width is free: axis 1 of input 0, and of an output the place in `outputs`.
ir::AxesRule BagAxes(std::vector<int> outputs);

// d/dw[i], where `bags` are embedding_bag's result for this table and `grad` their gradient.
ir::Value BagWeightGradient(const Emit& e, const ir::ExprCall& call, const ir::Value& table,
                            const ir::Value& bags, const ir::Value& grad);

// The table's gradient of mode max: to the first of the largest in each bag and column.
ir::Value BagMaxGradient(const Emit& e, const ir::ExprCall& call);

// Calls body(bag, place in indices, row, factor) for every index in order; factor is the weight
// over what `mode` divides by. Negative rows count from the end. Fails on offsets that do not
// ascend from 0 to the number of indices, and on a row that is not there.
template <typename Body>
core::Status ForBags(const ir::RefCall& call, int64_t rows, Body&& body) {
  const auto indices = call.in<int64_t>(bag::kIndices);
  const auto offsets = call.in<int64_t>(bag::kOffsets);
  const bool weighted = call.has(bag::kWeights);
  const std::string& mode = call.call().text("mode");
  const int64_t bags = offsets.size() - 1;
  if (offsets[0] != 0 || offsets[bags] != indices.size()) {
    return core::OutOfRange("offsets go from ", offsets[0], " to ", offsets[bags],
                            ", expected 0 to ", indices.size());
  }
  for (int64_t b = 0; b < bags; ++b) {
    if (offsets[b + 1] < offsets[b] || offsets[b + 1] > indices.size())
      return core::OutOfRange("offsets descend at ", b);
    double sum = 0;
    double squares = 0;
    for (int64_t i = offsets[b]; i < offsets[b + 1]; ++i) {
      const double weight = weighted ? call.in<double>(bag::kWeights)[i] : 1;
      sum += weight;
      squares += weight * weight;
    }
    const double divisor = mode == "mean" ? sum : mode == "sqrtn" ? std::sqrt(squares) : 1;
    for (int64_t i = offsets[b]; i < offsets[b + 1]; ++i) {
      RML_ASSIGN(const int64_t row, CheckIndex(indices[i], rows, i, indices.shape()));
      const double weight = weighted ? call.in<double>(bag::kWeights)[i] : 1;
      body(b, i, row, divisor == 0 ? 0 : weight / divisor);
    }
  }
  return {};
}

}  // namespace rml::ops
