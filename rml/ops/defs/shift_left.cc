// y = a << b
#include "rml/ops/elementwise_forms.h"

namespace rml::ops {
namespace {

// Bits past a narrow type's width fall off when the result is written.
uint64_t Shift(uint64_t a, uint64_t b) { return b < 64 ? a << b : 0; }

}  // namespace

ir::OpDef ShiftLeft() {
  ir::OpDef op = Bitwise(
      "shift_left",
      "Bits moved up: `y = a << b`. By the width of the type or more, and by a negative number, 0.",
      false,
      [](int64_t a, int64_t b) {
        return static_cast<int64_t>(Shift(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
      },
      Shift);
  op.samples = [] {
    auto samples = BinarySamples(ir::Fill::Normal(0, 40), ir::Fill::Uniform(0, 9));
    samples.push_back({{{{10}, ir::Fill::Values({1, -1, 100})},
                        {{10}, ir::Fill::Values({0, 7, 8, 15, 16, 31, 32, 63, 64, -1})}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
