// y = max x over axes
#include "rml/ops/extremes.h"
#include "rml/ops/reduce.h"

namespace rml::ops {

ir::OpDef Max() {
  ir::OpDef op = Reduction(ir::Combine::kMax);
  op.name = "max";
  op.doc =
      "Largest element over `axes` (none: all). NaN gives NaN. Of no elements: -∞, or the least "
      "integer of the type. Elements that are equally large share the gradient.";
  op.types = {{"T", ir::kNumbers}};
  op.reference = [](ir::RefCall& call) { return ReduceExtreme(call, true); };
  op.vjp = ReduceExtremeGradient;
  op.samples = ReduceExtremeSamples;
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
