// y = min x over axes
#include "rml/ops/extremes.h"
#include "rml/ops/reduce.h"

namespace rml::ops {

ir::OpDef Min() {
  ir::OpDef op = Reduction(ir::Combine::kMin);
  op.name = "min";
  op.doc =
      "Smallest element over `axes` (none: all). NaN gives NaN. Of no elements: ∞, or the largest "
      "integer of the type. Elements that are equally small share the gradient.";
  op.types = {{"T", ir::kNumbers}};
  op.reference = [](ir::RefCall& call) { return ReduceExtreme(call, false); };
  op.vjp = ReduceExtremeGradient;
  op.samples = ReduceExtremeSamples;
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
