// y[..., i, ...] = x[..., indices[..., i, ...], ...]
#include "rml/ops/elementwise.h"
#include "rml/ops/indexing.h"

namespace rml::ops {
namespace {

core::Status ReferenceTakeAlongAxis(ir::RefCall& call) {
  RML_ASSIGN(const int axis, call.call().axis("axis", call.in_shape(0).rank()));
  const auto indices = call.in<int64_t>(1);
  const AxisView from(call.in_shape(0), axis);
  return call.VisitIn(0, [&](auto zero) -> core::Status {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    const AxisView to(y.shape(), axis);
    for (int64_t o = 0; o < to.outer; ++o) {
      for (int64_t i = 0; i < to.size; ++i) {
        for (int64_t in = 0; in < to.inner; ++in) {
          const int64_t at = to.at(o, i, in);
          RML_ASSIGN(const int64_t place, CheckIndex(indices[at], from.size, at, indices.shape()));
          y[at] = x[from.at(o, place, in)];
        }
      }
    }
    return {};
  });
}

}  // namespace

ir::OpDef TakeAlongAxis() {
  ir::OpDef op;
  op.name = "take_along_axis";
  op.doc =
      "Elements of `x` at `indices` along `axis`; all other axes are equal. Negative indices "
      "count from the end.";
  op.inputs = {{"x"}, {"indices", "I"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}, {"I", ir::kIndices}};
  op.attributes = {{"axis", -1}};
  op.axes = ir::AxesRule(AlongAxisAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(CheckAlongAxis(call));
    outputs->push_back({call.dtype(0), call.input(1).dims});
    return {};
  };
  op.reference = ReferenceTakeAlongAxis;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    return {e.one("scatter_along_axis", {e.zeros_like(call.in(0)), call.in(1), call.grad(0)},
                  {{"axis", call.call().integer("axis")}, {"reduce", "add"}})};
  };
  op.samples = [] {
    const auto index = [](core::Shape shape, double size) {
      return ir::SampleInput(shape, ir::Fill::Uniform(-size, size - 1));
    };
    return std::vector<ir::Sample>{
        {{{{5}}, index({3}, 5)}},
        {{{{4, 3}}, index({2, 3}, 4)}, {{"axis", 0}}},
        {{{{2, 3, 4}}, index({2, 3, 7}, 4)}},
        {{{{2, 3}}, index({2, 0}, 3)}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
