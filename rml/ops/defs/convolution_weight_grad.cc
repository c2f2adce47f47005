// The gradient of a convolution's weights.
#include "rml/ops/convolution.h"

namespace rml::ops {

ir::OpDef ConvolutionWeightGrad() {
  ir::OpDef op = ConvolutionForm({.x = 0, .w = 2, .y = 1});
  op.name = "convolution_weight_grad";
  op.doc =
      "The gradient of `convolution` for its weights of dimensions `shape`, from its input and "
      "its output's gradient.";
  op.inputs = {{"x"}, {"grad"}};
  op.outputs = {{"dw"}};
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto x = call.in<double>(0);
    const auto grad = call.in<double>(1);
    const auto dw = call.out<double>(0);
    RML_ASSIGN(const ConvGeometry g, GeometryOf(call.call(), x.rank() - 2));
    ForProducts(g, x.shape(), dw.shape(), grad.shape(),
                [&](int64_t to, int64_t from, int64_t k) { dw[k] += grad[to] * x[from]; });
    return {};
  };
  return op;
}

}  // namespace rml::ops
