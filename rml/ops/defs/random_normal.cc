// Normal random numbers.
#include "rml/ops/random_values.h"

namespace rml::ops {

ir::OpDef RandomNormal() {
  ir::OpDef op = RandomOfShape("random_normal", ir::kFloats, core::DType::kF32);
  op.doc = "Normal random numbers of `shape`, of `mean` and standard `deviation`.";
  op.attributes.push_back({"mean", 0.0});
  op.attributes.push_back({"deviation", 1.0});
  op.reference = [](ir::RefCall& call) -> core::Status {
    const double mean = call.call().number("mean");
    const double deviation = call.call().number("deviation");
    return DrawEach<double>(call, [&](const random::Stream& stream, uint64_t place, int64_t) {
      return mean + deviation * stream.Normal(place);
    });
  };
  op.samples = [samples = op.samples] {
    std::vector<ir::Sample> all = samples();
    all.push_back({{SampleKey()}, {{"shape", ir::Dims{33}}, {"mean", 3.0}, {"deviation", 0.02}}});
    return all;
  };
  return op;
}

}  // namespace rml::ops
