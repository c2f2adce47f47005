// How far a tensor is from what was expected, in the measure that Tolerance is stated in.
#pragma once

#include <string>

#include "rml/core/expected.h"
#include "rml/core/tensor.h"
#include "rml/ir/op_def.h"

namespace rml::ops {

// The tolerance for values of this dtype: 0 for integers and booleans.
double ToleranceFor(const ir::Tolerance& tolerance, core::DType dtype);

struct Difference {
  double worst =
      0;  // the largest |actual - expected| / (|expected| + size); infinite where one is NaN
  std::string where;  // "at [1, 2]: 0.25, expected 0.5"
};

// `size` is the root of the mean of the squares of what was expected (but for infinities): rounding
// in a sum is relative to its terms, not to a result that may have cancelled. A caller that knows
// that all of the result may have cancelled says which size to take at least. NaN equals NaN.
core::Expected<Difference> Compare(const core::Tensor& actual, const core::Tensor& expected,
                                   double least_size = 0);

}  // namespace rml::ops
