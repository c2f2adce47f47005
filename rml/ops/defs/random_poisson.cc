// Poisson random numbers.
#include "rml/core/error.h"
#include "rml/ops/random_values.h"

namespace rml::ops {

ir::OpDef RandomPoisson() {
  ir::OpDef op = RandomOfParameters("random_poisson", {"rate"}, ir::kIndices, core::DType::kI64);
  op.doc =
      "Poisson random numbers, one for each element of `rate`, which is the mean; 0 where it is "
      "not positive.";
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto rate = call.in<double>(1);
    for (int64_t i = 0; i < rate.size(); ++i) {
      // Beyond, what is drawn may not be an i64.
      if (rate[i] > 1e18) return core::OutOfRange("rate ", rate[i], " is larger than 1e18");
    }
    return DrawEach<int64_t>(call, [&](const random::Stream& stream, uint64_t place, int64_t i) {
      return rate[i] > 0 ? stream.Poisson(rate[i], place) : 0;
    });
  };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const core::Shape& shape : {core::Shape{}, {7}, {2, 33}, {0, 2}})
      samples.push_back({{SampleKey(), {shape, ir::Fill::Uniform(0, 20)}}});
    samples.push_back({{SampleKey(), {{2, 3}, ir::Fill::Uniform(0, 20)}},
                       {{"global_shape", ir::Dims{4, 9}}, {"start", ir::Ints{2, 5}}}});
    samples.push_back({{SampleKey(), {{3}, ir::Fill::Values({0, -1, 1000})}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
