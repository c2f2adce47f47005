// y = a - b ⌊a / b⌋
#include <cmath>

#include "rml/ops/remainder.h"

namespace rml::ops {
namespace {

double Float(double a, double b) {
  const double y = std::fmod(a, b);
  if (y == 0) return std::copysign(0.0, b);
  return (y < 0) != (b < 0) ? y + b : y;
}

int64_t Signed(int64_t a, int64_t b) {
  const int64_t y = TruncatedRemainder(a, b);
  return b != 0 && y != 0 && (y < 0) != (b < 0) ? y + b : y;
}

}  // namespace

ir::OpDef Mod() {
  return Remainder("mod",
                   "Remainder of the quotient rounded down, as Python's `%` and ONNX's Mod: `y = a "
                   "- b ⌊a / b⌋`, of b's sign. By zero floats give NaN, and integers a.",
                   Float, Signed);
}

}  // namespace rml::ops
