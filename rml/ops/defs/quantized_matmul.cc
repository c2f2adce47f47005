// y = x · wᵀ for block-quantised weights
#include <algorithm>

#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status ReferenceQuantizedMatmul(ir::RefCall& call) {
  const auto x = call.in<double>(0);
  const auto w = call.in<double>(1);
  const auto y = call.out<double>(0);
  const int64_t width = w.dim(1);
  for (int64_t i = 0; i < y.size(); ++i) {
    const double* const row = x.data() + i / w.dim(0) * width;
    const double* const weights = w.data() + i % w.dim(0) * width;
    for (int64_t k = 0; k < width; ++k) y[i] += row[k] * weights[k];
  }
  return {};
}

}  // namespace

ir::OpDef QuantizedMatmul() {
  ir::OpDef op;
  op.name = "quantized_matmul";
  op.doc =
      "`y = x · wᵀ` for `x` [..., in] and block-quantised weights `w` [out, in]. Weights get no "
      "gradient.";
  op.inputs = {{"x"}, {"w", "B"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kFloats}, {"B", ir::kBlocks}};
  op.axes = "*b in!, out in! -> *b out";
  op.reference = ReferenceQuantizedMatmul;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    // A matmul of two matrices, whatever x's leading axes are.
    const ir::Value w = e.one("block_dequantize", {call.in(1)}, {{"dtype", call.grad(0).dtype()}});
    const ir::Dims dims = call.grad(0).type().dims;
    ir::Dim rows = 1;
    for (int axis = 0; axis + 1 < dims.rank(); ++axis) rows = rows * dims[axis];
    const ir::Value dx = e.matmul(e.reshape(call.grad(0), {rows, dims.dim(-1)}), w);
    return {e.reshape(dx, call.in(0).type().dims), ir::Value()};
  };
  op.cost = [](const ir::OpCall& call) {
    const double rows = static_cast<double>(call.input(0).dims.elements().max()) /
                        std::max<double>(1, static_cast<double>(call.dim(1, 1).max()));
    const core::DTypeInfo& block = core::Info(call.dtype(1));
    const double weights = static_cast<double>(call.input(1).dims.elements().max());
    const double bytes = core::Info(call.dtype(0)).block_bytes;
    return ir::Cost{2 * rows * weights,
                    bytes * static_cast<double>(call.input(0).dims.elements().max()) +
                        weights * block.block_bytes / block.block_elements,
                    bytes * rows * static_cast<double>(call.dim(1, 0).max())};
  };
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{256}}, {{3, 256}}}},
        {{{{2, 256}}, {{5, 256}}}},
        {{{{2, 3, 512}}, {{1, 512}}}},
        {{{{0, 256}}, {{2, 256}}}},
    };
  };
  return op;
}

}  // namespace rml::ops
