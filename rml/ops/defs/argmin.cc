// y = the place of the smallest x along an axis
#include "rml/ops/arg_extreme.h"

namespace rml::ops {

ir::OpDef Argmin() {
  return ArgExtreme("argmin",
                    "Place of the smallest element along `axis`; of NaN where there is one. Of "
                    "equal ones the first, or the last if `select_last_index`.",
                    false);
}

}  // namespace rml::ops
