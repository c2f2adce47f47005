// y = whether one x is true over axes
#include "rml/ops/reduce.h"

namespace rml::ops {

ir::OpDef Any() {
  ir::OpDef op = Reduction(ir::Combine::kMax);
  op.name = "any";
  op.doc = "Whether an element over `axes` (none: all) is true. Of no elements: false.";
  op.types = {{"T", ir::kBools}};
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto x = call.in<uint8_t>(0);
    const auto y = call.out<uint8_t>(0);
    return ForReduction(call, [&](int64_t out, int64_t in) { y[out] |= x[in]; });
  };
  op.no_gradient = true;
  op.samples = [] {
    auto samples = ReductionSamples(ir::Fill::Uniform(0, 1));
    samples.push_back({{{{2, 0}}}, {{"axes", ir::Ints{1}}}});
    samples.push_back({{{{3, 4}, ir::Fill::Values({0, 0, 0, 0, 1, 0, 0})}}, {{"axes", 1}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
