// y = a >> b
#include <algorithm>

#include "rml/ops/elementwise_forms.h"

namespace rml::ops {
namespace {

uint64_t Logical(uint64_t a, uint64_t b) { return b < 64 ? a >> b : 0; }

int64_t Arithmetic(int64_t a, int64_t b) { return a >> (b < 0 ? 63 : std::min<int64_t>(b, 63)); }

}  // namespace

ir::OpDef ShiftRight() {
  ir::OpDef op = Bitwise(
      "shift_right",
      "Bits moved down: `y = a >> b`. Signed integers are filled up with their sign, or with zeros "
      "if `logical`; unsigned ones always with zeros. By the width of the type or more, and by a "
      "negative number, only the filling is left.",
      false, Arithmetic, Logical);
  op.attributes = {{"logical", false}};
  op.reference = [plain = op.reference](ir::RefCall& call) -> core::Status {
    if (!call.call().flag("logical") || call.in_type(0) != ir::WideType::kSigned)
      return plain(call);
    const auto a = call.in<int64_t>(0);
    const auto b = call.in<int64_t>(1);
    const auto y = call.out<int64_t>(0);
    // The wide value repeats the sign above the type's own bits.
    const int bits = 8 * core::Info(call.call().dtype(0)).block_bytes;
    const uint64_t own = ~uint64_t{0} >> (64 - bits);
    ForBroadcast<2>(call, [&](int64_t out, const std::array<int64_t, 2>& in) {
      y[out] = static_cast<int64_t>(
          Logical(static_cast<uint64_t>(a[in[0]]) & own, static_cast<uint64_t>(b[in[1]])));
    });
    return {};
  };
  op.samples = [] {
    auto samples = BinarySamples(ir::Fill::Normal(0, 40), ir::Fill::Uniform(0, 9));
    const std::vector<ir::SampleInput> edges = {
        {{10}, ir::Fill::Values({1, -1, 100})},
        {{10}, ir::Fill::Values({0, 7, 8, 15, 16, 31, 32, 63, 64, -1})}};
    samples.push_back({edges});
    samples.push_back({edges, {{"logical", true}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
