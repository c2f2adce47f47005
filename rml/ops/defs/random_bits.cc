// Random words.
#include "rml/ops/random_values.h"

namespace rml::ops {

ir::OpDef RandomBits() {
  ir::OpDef op = RandomOfShape("random_bits", ir::kUnsignedInts, core::DType::kU32);
  op.doc = "Uniform random words of `shape` and of an unsigned `dtype`.";
  op.reference = [](ir::RefCall& call) -> core::Status {
    const bool wide = call.call().attr<core::DType>("dtype") == core::DType::kU64;
    return DrawEach<uint64_t>(call, [&](const random::Stream& stream, uint64_t place, int64_t) {
      return wide ? stream.Bits64(place) : uint64_t{stream.Bits32(place)};
    });
  };
  return op;
}

}  // namespace rml::ops
