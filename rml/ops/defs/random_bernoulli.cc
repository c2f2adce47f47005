// Random truths.
#include "rml/ops/random_values.h"

namespace rml::ops {

ir::OpDef RandomBernoulli() {
  ir::OpDef op = RandomOfParameters("random_bernoulli", {"p"}, ir::kBools, core::DType::kBool);
  op.doc = "True with probability `p`, element by element.";
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto p = call.in<double>(1);
    return DrawEach<uint8_t>(call, [&](const random::Stream& stream, uint64_t place, int64_t i) {
      // In f32, so that every kernel decides alike.
      return stream.UniformF32(place) < static_cast<float>(p[i]) ? 1 : 0;
    });
  };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const core::Shape& shape : {core::Shape{}, {7}, {2, 33}, {0, 2}})
      samples.push_back({{SampleKey(), {shape, ir::Fill::Uniform(0, 1)}}});
    samples.push_back({{SampleKey(), {{2, 3}, ir::Fill::Uniform(0, 1)}},
                       {{"global_shape", ir::Dims{4, 9}}, {"start", ir::Ints{2, 5}}}});
    samples.push_back({{SampleKey(), {{4}, ir::Fill::Values({0, 1})}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
