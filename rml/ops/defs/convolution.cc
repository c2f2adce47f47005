// y[n, o, p] = Σ_{c, k} x[n, c, p · stride + k · dilation - pad] · w[o, c, k]
#include "rml/ops/convolution.h"

namespace rml::ops {

ir::OpDef Convolution() {
  ir::OpDef op = ConvolutionForm({.x = 0, .w = 1, .y = 2});
  op.name = "convolution";
  op.doc =
      "Cross-correlation over any number of spatial axes, as ONNX's Conv: `x` is [batch, "
      "channels, spatial…], `w` [outputs, channels / groups, window…]. `pads` holds zeros before "
      "and after each axis, [before0, after0, before1, …].";
  op.inputs = {{"x"}, {"w"}};
  op.outputs = {{"y"}};
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto x = call.in<double>(0);
    const auto w = call.in<double>(1);
    const auto y = call.out<double>(0);
    RML_ASSIGN(const ConvGeometry g, GeometryOf(call.call(), x.rank() - 2));
    ForProducts(g, x.shape(), w.shape(), y.shape(),
                [&](int64_t to, int64_t from, int64_t k) { y[to] += x[from] * w[k]; });
    return {};
  };
  return op;
}

}  // namespace rml::ops
