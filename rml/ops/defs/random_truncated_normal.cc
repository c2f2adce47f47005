// Normal random numbers between bounds.
#include "rml/ops/random_values.h"

namespace rml::ops {

ir::OpDef RandomTruncatedNormal() {
  ir::OpDef op = RandomOfShape("random_truncated_normal", ir::kFloats, core::DType::kF32);
  op.doc =
      "Normal random numbers of `shape` on condition that they lie between `low` and `high` "
      "standard deviations from the mean: mean + deviation · z. The deviation is that of the "
      "normal distribution, before it is cut.";
  op.attributes.push_back({"low", -2.0});
  op.attributes.push_back({"high", 2.0});
  op.attributes.push_back({"mean", 0.0});
  op.attributes.push_back({"deviation", 1.0});
  op.infer = [infer = op.infer](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    if (!(call.number("low") < call.number("high"))) {
      return core::InvalidArgument("nothing lies between ", call.number("low"), " and ",
                                   call.number("high"));
    }
    return infer(call, outputs);
  };
  op.reference = [](ir::RefCall& call) -> core::Status {
    const ir::OpCall& c = call.call();
    return DrawEach<double>(call, [&](const random::Stream& stream, uint64_t place, int64_t) {
      const double z = stream.TruncatedNormal(c.number("low"), c.number("high"), place);
      return c.number("mean") + c.number("deviation") * z;
    });
  };
  op.samples = [samples = op.samples] {
    std::vector<ir::Sample> all = samples();
    all.push_back({{SampleKey()},
                   {{"shape", ir::Dims{33}}, {"low", 3.0}, {"high", 9.0}, {"deviation", 0.5}}});
    return all;
  };
  return op;
}

}  // namespace rml::ops
