// y = the place of the largest x along an axis
#include "rml/ops/arg_extreme.h"

namespace rml::ops {

ir::OpDef Argmax() {
  return ArgExtreme("argmax",
                    "Place of the largest element along `axis`; of NaN where there is one. Of "
                    "equal ones the first, or the last if `select_last_index`.",
                    true);
}

}  // namespace rml::ops
