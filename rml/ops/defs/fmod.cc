// y = a - b trunc(a / b)
#include <cmath>

#include "rml/ops/remainder.h"

namespace rml::ops {

ir::OpDef Fmod() {
  return Remainder(
      "fmod",
      "Remainder of the quotient rounded towards zero, as C's fmod and StableHLO's "
      "remainder: `y = a - b trunc(a / b)`, of a's sign. By zero floats give NaN, and "
      "integers a.",
      [](double a, double b) { return std::fmod(a, b); }, TruncatedRemainder);
}

}  // namespace rml::ops
