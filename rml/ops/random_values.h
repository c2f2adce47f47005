// The forms that random operators share: numbers for a shape, and numbers for each element of an
// input. Each is still one file of rml/ops/defs, which says its distribution.
#pragma once

#include <functional>

#include "rml/ir/op_def.h"
#include "rml/ops/random_op.h"

namespace rml::ops {

// y of the attributes `shape` and `dtype` from `key`; element by element `draw(stream, place)`.
ir::OpDef RandomOfShape(std::string_view name, ir::DTypeSet dtypes, core::DType fallback);

// y of the last inputs' dimensions from those parameters, all alike, and `key`, the first input.
// `dtypes` of y: none means the parameters' own. Without a gradient: what is drawn is a constant.
ir::OpDef RandomOfParameters(std::string_view name, std::vector<std::string_view> parameters,
                             ir::DTypeSet dtypes, core::DType fallback);

template <typename T, typename Draw>
core::Status DrawEach(ir::RefCall& call, Draw&& draw) {
  const auto y = call.out<T>(0);
  const random::Stream stream = StreamOf(call, 0);
  const GlobalPlaces place(call.call(), y.shape());
  for (int64_t i = 0; i < y.size(); ++i) y[i] = static_cast<T>(draw(stream, place(i), i));
  return {};
}

// In [0, 1): as many top bits as the dtype holds, so that rounding to it cannot make 1.
double UniformOf(core::DType dtype, const random::Stream& stream, uint64_t place);

ir::SampleInput SampleKey(double low = 12345, double high = 678);

}  // namespace rml::ops
