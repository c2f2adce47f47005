// The gradient of resize.
#include "rml/ops/resample.h"

namespace rml::ops {

ir::OpDef ResizeGrad() {
  ir::OpDef op = ResamplingGradient(ResizeForm());
  op.name = "resize_grad";
  op.doc =
      "The gradient of `resize` of the same attributes for an input whose spatial axes have "
      "`sizes` elements.";
  return op;
}

}  // namespace rml::ops
