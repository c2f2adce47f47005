// y = x, and y[..., indices[..., i, ...], ...] (+)= updates[..., i, ...]
#include <algorithm>

#include "rml/ops/elementwise.h"
#include "rml/ops/indexing.h"

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

ir::Values VjpScatterAlongAxis(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Value& g = call.grad(0);
  const ir::AttrList along = {{"axis", call.call().integer("axis")}};
  const std::string& how = call.call().text("reduce");
  ir::Values grads(size_t{3});
  const ir::Value taken = e.one("take_along_axis", {g, call.in(1)}, along);
  if (how == "add") {
    grads[0] = g;
    grads[2] = taken;
    return grads;
  }
  if (how != "none")
    throw Error(core::Unsupported("scatter_along_axis: reduce \"", how,
                                  "\" has no gradient; \"add\" and \"none\" have"));
  // What was overwritten does not matter. Where several updates land on one place, which of them
  // stays is defined (the last), but its gradient is shared by all, as PyTorch and JAX have it.
  const ir::Value zeros = e.zeros_like(call.in(2));
  if (call.needs(0)) {
    grads[0] = e.one("scatter_along_axis", {g, call.in(1), zeros},
                     {{"axis", call.call().integer("axis")}, {"reduce", "none"}});
  }
  grads[2] = taken;
  return grads;
}

}  // namespace

ir::OpDef ScatterAlongAxis() {
  ir::OpDef op;
  op.name = "scatter_along_axis";
  op.doc =
      "`x` with `updates` at `indices` along `axis`. `reduce`: none (the last update stays), add, "
      "mul, max, min. Updates are taken in "
      "row-major order.";
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
  op.vjp = VjpScatterAlongAxis;
  op.samples = [] {
    const auto places = [](core::Shape shape, std::vector<double> values) {
      return ir::SampleInput(shape, ir::Fill::Values(std::move(values)));
    };
    return std::vector<ir::Sample>{
        {{{{5}}, places({3}, {4, 0, -3}), {{3}}}},
        {{{{4, 3}}, places({2, 3}, {0, 1, 2, 3, 3, 1}), {{2, 3}}},
         {{"axis", 0}, {"reduce", "add"}}},
        {{{{2, 4}}, places({2, 5}, {1, 1, 2, 1, 0, 3, 3, 3, 3, 3}), {{2, 5}}}, {{"reduce", "add"}}},
        {{{{2, 4}}, places({2, 5}, {1, 1, 2, 1, 0, 3, 3, 3, 3, 3}), {{2, 5}}},
         {{"reduce", "max"}},
         false},
        {{{{2, 4}}, places({2, 3}, {1, 1, 2, 0, 3, 3}), {{2, 3}}}, {{"reduce", "mul"}}, false},
        {{{{2, 4}}, places({2, 0}, {0}), {{2, 0}}}, {{"reduce", "add"}}},
    };
  };
  op.tolerance = {1e-12, 1e-6, 2e-3, 2e-2, 0};
  return op;
}

}  // namespace rml::ops
