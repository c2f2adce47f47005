// y = x, and y[batch…, indices[batch…, i…]…, rest…] (+)= updates[batch…, i…, rest…]
#include <algorithm>

#include "rml/ops/elementwise.h"
#include "rml/ops/gather_nd.h"
#include "rml/ops/scatter_gradient.h"

namespace rml::ops {
namespace {

core::Status InferScatterNd(const ir::OpCall& call, ir::Types* outputs) {
  RML_TRY(CheckReduceName(call.text("reduce")));
  RML_ASSIGN(const ir::Dims dims, SlicesDims(call));
  if (!(call.input(2).dims == dims)) {
    return core::InvalidArgument("updates are ", call.input(2).dims.ToString(),
                                 ", and what the indices name is ", dims.ToString());
  }
  outputs->push_back(call.input(0));
  return {};
}

core::Status ReferenceScatterNd(ir::RefCall& call) {
  const std::string& how = call.call().text("reduce");
  return call.VisitIn(0, [&](auto zero) -> core::Status {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto updates = call.in<T>(2);
    const auto y = call.out<T>(0);
    std::copy(x.begin(), x.end(), y.begin());
    return ForSlices(call, [&](int64_t to, int64_t from, int64_t width) {
      for (int64_t i = 0; i < width; ++i)
        y[to + i] = ScatterElement<T>(how, y[to + i], updates[from + i]);
    });
  });
}

}  // namespace

ir::OpDef ScatterNd() {
  ir::OpDef op;
  op.name = "scatter_nd";
  op.doc =
      "`x` with `updates` at the places that `gather_nd` reads with the same `indices` and "
      "`batch_dims`. `reduce`: none (the last update stays), add, mul, max, min; updates are "
      "taken in row-major order. The second gradient of mul leaves out factors that are exactly "
      "zero.";
  op.inputs = {{"x"}, {"indices", "I"}, {"updates"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kNumbers}, {"I", ir::kIndices}};
  op.attributes = {{"reduce", "none"}, {"batch_dims", 0}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) { return SlicesAxes(call, 2); });
  op.infer = InferScatterNd;
  op.reference = ReferenceScatterNd;
  op.vjp = [](ir::ExprCall& call) {
    return ScatterGradient(call, "gather_nd", {{"batch_dims", call.call().integer("batch_dims")}});
  };
  op.aliases = {{0, 0}};
  op.samples = [] {
    const auto places = [](core::Shape shape, std::vector<double> values) {
      return ir::SampleInput(shape, ir::Fill::Values(std::move(values)));
    };
    const ir::Fill near = ir::Fill::Uniform(0.5, 2);
    std::vector<ir::Sample> samples = {
        {{{{5}}, places({3, 1}, {4, 0, -3}), {{3}}}},
        {{{{3, 4}}, places({4, 2}, {0, 1, 2, -1, 1, 1, 2, 0}), {{4}}}},
        {{{{3, 17}}, places({2, 2, 1}, {2, 0, 2, 1}), {{2, 2, 17}}}, {{"reduce", "add"}}},
        {{{{2, 3, 4}}, places({2, 2, 1}, {2, 0, 1, 1}), {{2, 2, 4}}},
         {{"reduce", "add"}, {"batch_dims", 1}}},
        {{{{3, 2}}, places({4, 1}, {2, 0, 2, 2}), {{4, 2}}}, {{"reduce", "max"}}},
        {{{{3, 2}}, places({4, 1}, {2, 0, 2, 2}), {{4, 2}}}, {{"reduce", "min"}}},
        {{{{3, 2}, near}, places({4, 1}, {2, 0, 2, 2}), {{4, 2}, near}}, {{"reduce", "mul"}}},
        {{{{3, 2}}, places({0, 1}, {0}), {{0, 2}}}, {{"reduce", "add"}}},
    };
    // Ties and zeros.
    for (const char* how : {"max", "mul"}) {
      samples.push_back({{{{2, 2}, ir::Fill::Values({1, 0, 2, 3})},
                          places({3, 1}, {0, 1, 1}),
                          {{3, 2}, ir::Fill::Values({1, 2, 0, 3, 2, 0})}},
                         {{"reduce", how}},
                         false});
    }
    return samples;
  };
  op.tolerance = {1e-12, 1e-6, 2e-3, 2e-2, 0};
  return op;
}

}  // namespace rml::ops
