// y = whether x is infinite
#include <cmath>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef IsInf() {
  ir::OpDef op = Predicate("is_inf",
                           "Whether an element is infinite: below 0 if `detect_negative`, above 0 "
                           "if `detect_positive`.",
                           nullptr);
  op.attributes = {{"detect_negative", true}, {"detect_positive", true}};
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto x = call.in<double>(0);
    const auto y = call.out<uint8_t>(0);
    const bool negative = call.call().flag("detect_negative");
    const bool positive = call.call().flag("detect_positive");
    for (int64_t i = 0; i < y.size(); ++i)
      y[i] = std::isinf(x[i]) && (x[i] < 0 ? negative : positive) ? 1 : 0;
    return {};
  };
  op.samples = [] {
    auto samples = UnaryEdgeSamples();
    const ir::SampleInput ends = samples.back().inputs[0];
    samples.push_back({{ends}, {{"detect_negative", false}}});
    samples.push_back({{ends}, {{"detect_positive", false}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
