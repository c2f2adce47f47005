// Beta random numbers.
#include <cmath>
#include <limits>

#include "rml/ops/random_values.h"

namespace rml::ops {

ir::OpDef RandomBeta() {
  ir::OpDef op = RandomOfParameters("random_beta", {"a", "b"}, {}, core::DType::kF32);
  op.doc =
      "Beta random numbers, one for each element of `a` and `b`; NaN where one is not positive or "
      "not finite.";
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto a = call.in<double>(1);
    const auto b = call.in<double>(2);
    return DrawEach<double>(call, [&](const random::Stream& stream, uint64_t place, int64_t i) {
      const bool valid = a[i] > 0 && b[i] > 0 && std::isfinite(a[i]) && std::isfinite(b[i]);
      return valid ? stream.Beta(a[i], b[i], place) : std::numeric_limits<double>::quiet_NaN();
    });
  };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const core::Shape& shape : {core::Shape{}, {7}, {2, 33}, {0, 2}})
      samples.push_back(
          {{SampleKey(), {shape, ir::Fill::Uniform(0.2, 5)}, {shape, ir::Fill::Uniform(0.2, 5)}}});
    samples.push_back(
        {{SampleKey(), {{2, 3}, ir::Fill::Uniform(0.2, 5)}, {{2, 3}, ir::Fill::Uniform(0.2, 5)}},
         {{"global_shape", ir::Dims{4, 9}}, {"start", ir::Ints{2, 5}}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
