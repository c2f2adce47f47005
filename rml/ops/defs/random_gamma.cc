// Gamma random numbers.
#include <cmath>
#include <limits>

#include "rml/ops/random_values.h"

namespace rml::ops {

ir::OpDef RandomGamma() {
  ir::OpDef op = RandomOfParameters("random_gamma", {"shape"}, {}, core::DType::kF32);
  op.doc =
      "Gamma random numbers of rate 1, one for each element of `shape`; NaN where that is not "
      "positive.";
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto shape = call.in<double>(1);
    return DrawEach<double>(call, [&](const random::Stream& stream, uint64_t place, int64_t i) {
      return shape[i] > 0 && std::isfinite(shape[i]) ? stream.Gamma(shape[i], place)
                                                     : std::numeric_limits<double>::quiet_NaN();
    });
  };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const core::Shape& shape : {core::Shape{}, {7}, {2, 33}, {0, 2}})
      samples.push_back({{SampleKey(), {shape, ir::Fill::Uniform(0.2, 5)}}});
    samples.push_back({{SampleKey(), {{2, 3}, ir::Fill::Uniform(0.2, 5)}},
                       {{"global_shape", ir::Dims{4, 9}}, {"start", ir::Ints{2, 5}}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
