// y = whether every x is true over axes
#include "rml/ops/reduce.h"

namespace rml::ops {

ir::OpDef All() {
  ir::OpDef op = Reduction(ir::Combine::kMin);
  op.name = "all";
  op.doc = "Whether every element over `axes` (none: all) is true. Of no elements: true.";
  op.types = {{"T", ir::kBools}};
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto x = call.in<uint8_t>(0);
    const auto y = call.out<uint8_t>(0);
    for (uint8_t& value : y) value = 1;
    return ForReduction(call, [&](int64_t out, int64_t in) { y[out] &= x[in]; });
  };
  op.no_gradient = true;
  op.samples = [] {
    auto samples = ReductionSamples(ir::Fill::Uniform(0, 1));
    samples.push_back({{{{2, 0}}}, {{"axes", ir::Ints{1}}}});
    samples.push_back({{{{3, 4}, ir::Fill::Values({1, 1, 1, 1, 1, 0, 1})}}, {{"axes", 1}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
