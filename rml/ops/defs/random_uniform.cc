// Uniform random numbers.
#include "rml/ops/random_values.h"

namespace rml::ops {

ir::OpDef RandomUniform() {
  ir::OpDef op = RandomOfShape("random_uniform", ir::kFloats, core::DType::kF32);
  op.doc =
      "Uniform random numbers of `shape`: low + (high - low) · u, with u in [0, 1) a multiple of "
      "the dtype's step below 1.";
  op.attributes.push_back({"low", 0.0});
  op.attributes.push_back({"high", 1.0});
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto dtype = call.call().attr<core::DType>("dtype");
    const double low = call.call().number("low");
    const double high = call.call().number("high");
    return DrawEach<double>(call, [&](const random::Stream& stream, uint64_t place, int64_t) {
      return low + (high - low) * UniformOf(dtype, stream, place);
    });
  };
  op.samples = [samples = op.samples] {
    std::vector<ir::Sample> all = samples();
    all.push_back({{SampleKey()}, {{"shape", ir::Dims{33}}, {"low", -3.0}, {"high", 7.5}}});
    return all;
  };
  return op;
}

}  // namespace rml::ops
