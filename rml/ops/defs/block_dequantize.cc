// Block-quantised weights as floats.
#include <algorithm>

#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef BlockDequantize() {
  ir::OpDef op;
  op.name = "block_dequantize";
  op.doc = "Block-quantised weights (see rml/quant/blocks.h) as floats of `dtype`.";
  op.inputs = {{"w", "B"}};
  op.outputs = {{"y", "*"}};
  op.types = {{"B", ir::kBlocks}};
  op.attributes = {{"dtype", core::DType::kF32}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    ir::Axes axes;
    for (int axis = 0; axis < call.rank(0); ++axis) {
      // A piece of the last axis might break a block.
      const bool rows = axis + 1 < call.rank(0);
      axes.push_back({core::StrCat("d", axis),
                      rows ? ir::AxisRole::kFree : ir::AxisRole::kWhole,
                      ir::Combine::kSum,
                      {axis},
                      {axis}});
    }
    return axes;
  });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    const auto dtype = call.attr<core::DType>("dtype");
    if (!ir::kFloats.Has(dtype)) {
      return core::Unsupported("dtype is ", core::Name(dtype), ", expected one of ",
                               ir::kFloats.ToString());
    }
    outputs->push_back({dtype, call.input(0).dims});
    return {};
  };
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto w = call.in<double>(0);
    std::copy(w.begin(), w.end(), call.out<double>(0).begin());
    return {};
  };
  op.no_gradient = true;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const core::DType dtype : ir::kFloats.list())
      samples.push_back({{{{3, 256}}}, {{"dtype", dtype}}});
    samples.push_back({{{{2, 1, 512}}}});
    samples.push_back({{{{0, 256}}}});
    return samples;
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
