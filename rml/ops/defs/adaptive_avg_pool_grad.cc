// The gradient of adaptive_avg_pool.
#include "rml/ops/resample.h"

namespace rml::ops {

ir::OpDef AdaptiveAvgPoolGrad() {
  ir::OpDef op = ResamplingGradient(AdaptivePoolForm());
  op.name = "adaptive_avg_pool_grad";
  op.doc =
      "The gradient of `adaptive_avg_pool` for an input whose spatial axes have `sizes` elements.";
  return op;
}

}  // namespace rml::ops
