// y = (x - zero point) * scale
#include "rml/ops/elementwise.h"
#include "rml/ops/linear_quant.h"

namespace rml::ops {
namespace {

enum { kX, kScale, kZeroPoint };

ir::Values DecomposeDequantize(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Dims dims = call.in(kX).type().dims;
  const core::DType dtype = call.in(kScale).dtype();
  const int64_t block = call.call().integer("block_size");
  // With the axis that a list lies along, or each block's number for all of its places.
  const auto spread = [&](const ir::Value& value) {
    if (value.rank() == 0) return value;
    const int axis = *call.call().axis("axis", dims.rank());
    if (block > 0) {
      const ir::Value repeated = e.one("repeat", {value}, {{"axis", axis}, {"repeats", block}});
      if (repeated.type().dims == dims) return repeated;
      return e.one("narrow", {repeated}, {{"axis", axis}, {"size", ir::Dims{dims[axis]}}});
    }
    ir::Dims spread_dims = dims;
    for (int i = 0; i < dims.rank(); ++i) {
      if (i != axis) spread_dims[i] = 1;
    }
    return e.reshape(value, spread_dims);
  };
  ir::Value steps = e.cast(call.in(kX), dtype);
  if (call.in(kZeroPoint).defined())
    steps = e.sub(steps, spread(e.cast(call.in(kZeroPoint), dtype)));
  return {e.mul(steps, spread(call.in(kScale)))};
}

}  // namespace

ir::OpDef Dequantize() {
  ir::OpDef op;
  op.name = "dequantize";
  op.doc =
      "The numbers that `quantize` stands for, as ONNX's DequantizeLinear: `y = (x - zero_point) "
      "· scale`, in the dtype of `scale`, which like `zero_point` (none: 0) is a scalar or holds "
      "a number for each place of `axis`, or for each block of `block_size` places of it, as in "
      "`quantize`.";
  op.inputs = {{"x", "Q"}, {"scale"}, {"zero_point", "Z", ir::Arity::kOptional}};
  op.outputs = {{"y"}};
  op.types = {
      {"T", ir::kFloats}, {"Q", kQuantTypes | ir::DTypeSet(core::DType::kI32)}, {"Z", kZeroPoints}};
  op.attributes = QuantAttributes();
  op.axes = ir::AxesRule([](const ir::OpCall& call) { return QuantAxes(call, call.dtype(kX)); });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(CheckQuant(call));
    outputs->push_back({call.dtype(kScale), call.input(kX).dims});
    return {};
  };
  op.decompose = DecomposeDequantize;
  op.samples = [] {
    const ir::Fill codes = ir::Fill::Uniform(0, 7);
    const ir::Fill scales = ir::Fill::Uniform(0.01, 0.5);
    return std::vector<ir::Sample>{
        {{{{3, 8}, codes}, {{}, scales}}},
        {{{{3, 8}, codes}, {{}, scales}, {{}, ir::Fill::Values({3}), core::DType::kI8}}},
        {{{{3, 8}, codes}, {{8}, scales}, {{8}, codes}}},
        {{{{3, 2, 4}, codes}, {{3}, scales}, {{}, ir::Fill::Values({5}), core::DType::kU16}},
         {{"axis", 0}}},
        {{{{0, 4}}, {{}, scales}}},
        {{{{3, 8}, codes}, {{3, 4}, scales}}, {{"block_size", 2}}},
        {{{{5, 4}, codes}, {{2, 4}, scales}, {{2, 4}, codes}}, {{"axis", -2}, {"block_size", 4}}},
    };
  };
  return op;
}

}  // namespace rml::ops
