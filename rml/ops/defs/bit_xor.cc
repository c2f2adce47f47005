// y = a ^ b
#include "rml/ops/elementwise_forms.h"

namespace rml::ops {

ir::OpDef BitXor() {
  return Bitwise(
      "bit_xor", "Difference of bits, elementwise: `y = a ^ b`. A boolean is one bit.", true,
      [](int64_t a, int64_t b) { return a ^ b; }, [](uint64_t a, uint64_t b) { return a ^ b; });
}

}  // namespace rml::ops
