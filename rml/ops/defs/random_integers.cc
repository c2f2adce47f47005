// Random integers below a bound.
#include "rml/ops/random_values.h"

namespace rml::ops {

ir::OpDef RandomIntegers() {
  ir::OpDef op = RandomOfShape("random_integers", ir::kInts, core::DType::kI64);
  op.doc = "Uniform random integers of `shape` in [`low`, `high`), without bias.";
  op.attributes.push_back({"low", 0});
  op.attributes.push_back({"high", ir::RequiredAttr{int64_t{1}}});
  op.infer = [infer = op.infer](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    if (call.integer("low") >= call.integer("high")) {
      return core::InvalidArgument("there is no integer from ", call.integer("low"), " to below ",
                                   call.integer("high"));
    }
    return infer(call, outputs);
  };
  op.reference = [](ir::RefCall& call) -> core::Status {
    // Unsigned: the range may be wider than i64's positive half.
    const auto low = static_cast<uint64_t>(call.call().integer("low"));
    const uint64_t bound = static_cast<uint64_t>(call.call().integer("high")) - low;
    const auto draw = [&](const random::Stream& stream, uint64_t place, int64_t) {
      return low + stream.Below(bound, place);
    };
    const bool is_signed =
        core::Info(call.call().attr<core::DType>("dtype")).kind == core::DTypeKind::kSigned;
    return is_signed ? DrawEach<int64_t>(call, draw) : DrawEach<uint64_t>(call, draw);
  };
  op.samples = [samples = op.samples] {
    std::vector<ir::Sample> all = samples();
    for (ir::Sample& sample : all) sample.attributes.push_back({"high", 100});
    all.push_back(
        {{SampleKey()}, {{"shape", ir::Dims{33}}, {"low", INT64_MIN}, {"high", INT64_MAX}}});
    all.push_back({{SampleKey()}, {{"shape", ir::Dims{9}}, {"low", -3}, {"high", -2}}});
    return all;
  };
  return op;
}

}  // namespace rml::ops
