// y = x, and y[..., indices[..., i, ...], ...] (+)= updates[..., i, ...]
#include <algorithm>

#include "rml/ops/elementwise.h"
#include "rml/ops/indexing.h"
#include "rml/ops/scatter_gradient.h"

namespace rml::ops {
namespace {

core::Status ReferenceScatterAlongAxis(ir::RefCall& call) {
  RML_ASSIGN(const int axis, call.call().axis("axis", call.in_shape(0).rank()));
  const std::string& how = call.call().text("reduce");
  const auto indices = call.in<int64_t>(1);
  return call.VisitIn(0, [&](auto zero) -> core::Status {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto updates = call.in<T>(2);
    const auto y = call.out<T>(0);
    std::copy(x.begin(), x.end(), y.begin());
    const AxisView from(updates.shape(), axis);
    const AxisView to(y.shape(), axis);
    for (int64_t o = 0; o < from.outer; ++o) {
      for (int64_t i = 0; i < from.size; ++i) {
        for (int64_t in = 0; in < from.inner; ++in) {
          const int64_t at = from.at(o, i, in);
          RML_ASSIGN(const int64_t place, CheckIndex(indices[at], to.size, at, indices.shape()));
          T& value = y[to.at(o, place, in)];
          value = ScatterElement<T>(how, value, updates[at]);
        }
      }
    }
    return {};
  });
}

}  // namespace

ir::OpDef ScatterAlongAxis() {
  ir::OpDef op;
  op.name = "scatter_along_axis";
  op.doc =
      "`x` with `updates` at `indices` along `axis`. `reduce`: none (the last update stays), add, "
      "mul, max, min. Updates are taken in row-major order. The second gradient of mul leaves out "
      "factors that are exactly zero.";
  op.inputs = {{"x"}, {"indices", "I"}, {"updates"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kNumbers}, {"I", ir::kIndices}};
  op.attributes = {{"axis", -1}, {"reduce", "none"}};
  op.axes = ir::AxesRule(AlongAxisAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(CheckAlongAxis(call));
    RML_TRY(CheckReduceName(call.text("reduce")));
    if (!(call.input(1).dims == call.input(2).dims)) {
      return core::InvalidArgument("indices are ", call.input(1).dims.ToString(), " and updates ",
                                   call.input(2).dims.ToString());
    }
    outputs->push_back(call.input(0));
    return {};
  };
  op.reference = ReferenceScatterAlongAxis;
  op.vjp = [](ir::ExprCall& call) {
    return ScatterGradient(call, "take_along_axis", {{"axis", call.call().integer("axis")}});
  };
  op.samples = [] {
    const auto places = [](core::Shape shape, std::vector<double> values) {
      return ir::SampleInput(shape, ir::Fill::Values(std::move(values)));
    };
    const ir::Fill near = ir::Fill::Uniform(0.5, 2);
    return std::vector<ir::Sample>{
        {{{{5}}, places({3}, {4, 0, -3}), {{3}}}},
        {{{{4, 3}}, places({2, 3}, {0, 1, 2, 3, 3, 1}), {{2, 3}}},
         {{"axis", 0}, {"reduce", "add"}}},
        {{{{2, 4}}, places({2, 5}, {1, 1, 2, 1, 0, 3, 3, 3, 3, 3}), {{2, 5}}}, {{"reduce", "add"}}},
        {{{{2, 4}}, places({2, 5}, {1, 1, 2, 1, 0, 3, 3, 3, 3, 3}), {{2, 5}}}, {{"reduce", "max"}}},
        {{{{2, 4}, near}, places({2, 3}, {1, 1, 2, 0, 3, 3}), {{2, 3}, near}}, {{"reduce", "mul"}}},
        {{{{3, 2}}, places({4, 2}, {2, 0, 0, 1, 2, 2, 2, 0}), {{4, 2}}},
         {{"axis", 0}, {"reduce", "min"}}},
        {{{{2, 4}}, places({2, 0}, {0}), {{2, 0}}}, {{"reduce", "add"}}},
    };
  };
  op.tolerance = {1e-12, 1e-6, 2e-3, 2e-2, 0};
  return op;
}

}  // namespace rml::ops
