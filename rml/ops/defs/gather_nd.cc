// y[batch…, i…, rest…] = x[batch…, indices[batch…, i…]…, rest…]
#include "rml/ops/gather_nd.h"

#include <algorithm>

#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status ReferenceGatherNd(ir::RefCall& call) {
  return call.VisitIn(0, [&](auto zero) -> core::Status {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    return ForSlices(call, [&](int64_t from, int64_t to, int64_t width) {
      std::copy_n(x.data() + from, width, y.data() + to);
    });
  });
}

}  // namespace

ir::OpDef GatherNd() {
  ir::OpDef op;
  op.name = "gather_nd";
  op.doc =
      "Slices of `x` at places: each row of the last axis of `indices` names one, on as many axes "
      "of x behind `batch_dims` common ones. As ONNX's GatherND. Negative indices count from the "
      "end.";
  op.inputs = {{"x"}, {"indices", "I"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}, {"I", ir::kIndices}};
  op.attributes = {{"batch_dims", 0}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) { return SlicesAxes(call, -1); });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_ASSIGN(const ir::Dims dims, SlicesDims(call));
    outputs->push_back({call.dtype(0), dims});
    return {};
  };
  op.reference = ReferenceGatherNd;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.one("scatter_nd", {e.zeros_like(call.in(0)), call.in(1), call.grad(0)},
                  {{"batch_dims", call.call().integer("batch_dims")}, {"reduce", "add"}})};
  };
  op.samples = [] {
    const auto index = [](core::Shape shape, double size) {
      return ir::SampleInput(shape, ir::Fill::Uniform(-size, size - 1));
    };
    return std::vector<ir::Sample>{
        {{{{5}}, index({1}, 5)}},
        {{{{3, 4}}, index({6, 2}, 3)}},
        {{{{3, 4, 17}}, index({2, 2, 1}, 3)}},
        {{{{2, 3, 4}}, index({2, 5, 1}, 3)}, {{"batch_dims", 1}}},
        {{{{2, 3, 2, 4}}, index({2, 3, 1}, 2)}, {{"batch_dims", 2}}},
        {{{{3, 2}}, index({0, 1}, 3)}},
        {{{{3, 2}}, index({4, 0}, 3)}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
