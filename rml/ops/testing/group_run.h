// One call of a collective by every member of a group of threads, and its gradient: for tests.
#pragma once

#include <string_view>
#include <vector>

#include "rml/core/function_ref.h"
#include "rml/core/tensor.h"
#include "rml/ir/attributes.h"

namespace rml::ops::testing {

struct GroupRun {
  std::vector<std::vector<double>> y;         // of each member
  std::vector<std::vector<double>> gradient;  // of all losses with respect to its x
  double loss = 0;                            // the sum of every member's
};

// Member r computes y = op(x(r)); its loss weighs element i of y by weight(r, i).
GroupRun RunOnGroup(int members, std::string_view op, const ir::AttrList& attributes,
                    core::FunctionRef<core::Tensor(int rank)> x,
                    core::FunctionRef<double(int rank, int64_t i)> weight);

}  // namespace rml::ops::testing
