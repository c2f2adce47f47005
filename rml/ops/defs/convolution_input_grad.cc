// The gradient of a convolution's input; also the transposed convolution.
#include "rml/ops/convolution.h"

namespace rml::ops {

ir::OpDef ConvolutionInputGrad() {
  ir::OpDef op = ConvolutionForm({.x = 2, .w = 1, .y = 0});
  op.name = "convolution_input_grad";
  op.doc =
      "The gradient of `convolution` for its input of dimensions `shape`, from that of its "
      "output. It is the transposed convolution.";
  op.inputs = {{"grad"}, {"w"}};
  op.outputs = {{"dx"}};
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto grad = call.in<double>(0);
    const auto w = call.in<double>(1);
    const auto dx = call.out<double>(0);
    RML_ASSIGN(const ConvGeometry g, GeometryOf(call.call(), grad.rank() - 2));
    ForProducts(g, dx.shape(), w.shape(), grad.shape(),
                [&](int64_t to, int64_t from, int64_t k) { dx[from] += grad[to] * w[k]; });
    return {};
  };
  return op;
}

}  // namespace rml::ops
