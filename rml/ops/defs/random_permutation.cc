// A random order of 0 … size - 1.
#include <algorithm>

#include "rml/ops/random_order.h"
#include "rml/ops/random_values.h"

namespace rml::ops {

ir::OpDef RandomPermutation() {
  ir::OpDef op;
  op.name = "random_permutation";
  op.doc =
      "The numbers from 0 to `size` - 1 in a random order, each order as likely as another: "
      "sorted by the 64 bits of their places in the stream.";
  op.inputs = {{"key", "u32"}};
  op.outputs = {{"y", "i64"}};
  op.types = {};
  op.attributes = {{"size", ir::RequiredAttr{ir::Dims()}}};
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    const ir::Dims& size = call.attr<ir::Dims>("size");
    if (size.rank() != 1)
      return core::InvalidArgument("size has ", size.rank(), " numbers, expected 1");
    if (!(call.input(0).dims == ir::Dims{2}))
      return core::InvalidArgument("key is ", call.input(0).dims.ToString(),
                                   ", expected two words");
    outputs->push_back({core::DType::kI64, size});
    return {};
  };
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto y = call.out<int64_t>(0);
    const std::vector<int64_t> order = RandomOrder(StreamOf(call, 0), y.size());
    std::ranges::copy(order, y.begin());
    return {};
  };
  op.no_gradient = true;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const int64_t size : {0, 1, 2, 7, 33})
      samples.push_back({{SampleKey()}, {{"size", ir::Dims{size}}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
