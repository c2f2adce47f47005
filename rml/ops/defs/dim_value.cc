// A dimension as a number.
#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef DimValue() {
  ir::OpDef op;
  op.name = "dim_value";
  op.doc =
      "The one dimension `dim`, as a number: what a symbolic dimension is when the graph runs.";
  op.outputs = {{"y", "i64"}};
  op.types = {};
  op.attributes = {{"dim", ir::RequiredAttr{ir::Dims()}}};
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    if (call.attr<ir::Dims>("dim").rank() != 1)
      return core::InvalidArgument("dim is not one dimension");
    outputs->push_back({core::DType::kI64, {}});
    return {};
  };
  op.reference = [](ir::RefCall& call) -> core::Status {
    call.out<int64_t>(0)[0] = call.call().attr<ir::Dims>("dim")[0].value();
    return {};
  };
  op.no_gradient = true;
  op.samples = [] {
    return std::vector<ir::Sample>{{{}, {{"dim", ir::Dims{7}}}}, {{}, {{"dim", ir::Dims{0}}}}};
  };
  return op;
}

}  // namespace rml::ops
