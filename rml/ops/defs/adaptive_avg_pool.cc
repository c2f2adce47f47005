// The means of windows that together cover the axis.
#include "rml/ops/resample.h"

namespace rml::ops {

ir::OpDef AdaptiveAvgPool() {
  ir::OpDef op = ResamplingForward(AdaptivePoolForm());
  op.name = "adaptive_avg_pool";
  op.doc =
      "Means of windows of `x` [batch, channels, place…], as many as `sizes` says for each "
      "spatial axis: window i of n covers the places from ⌊i · size / n⌋ to ⌈(i + 1) · size / n⌉ "
      "- 1.";
  return op;
}

}  // namespace rml::ops
