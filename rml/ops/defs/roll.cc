// y[…, (i + shift) mod size, …] = x[…, i, …]
#include <limits>

#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status InferRoll(const ir::OpCall& call, ir::Types* outputs) {
  const ir::Ints& shifts = call.ints("shifts");
  RML_ASSIGN(const ir::Ints axes, AxesInOrder(call, "axes", call.rank(0)));
  if (axes.empty() ? shifts.size() != 1 : shifts.size() != axes.size()) {
    return core::InvalidArgument("there are ", shifts.size(), " shifts and ", axes.size(), " axes");
  }
  for (const int64_t shift : shifts) {
    if (shift == std::numeric_limits<int64_t>::min())
      return core::InvalidArgument("shift ", shift, " cannot be undone");
  }
  return InferLikeFirst(call, outputs);
}

core::Status ReferenceRoll(ir::RefCall& call) {
  const core::Shape& shape = call.in_shape(0);
  const ir::Ints& shifts = call.call().ints("shifts");
  RML_ASSIGN(const ir::Ints axes, AxesInOrder(call.call(), "axes", shape.rank()));
  return CopyElements(call, [&](Coordinates& at) {
    if (axes.empty()) {
      const int64_t size = shape.elements();
      at = CoordinatesOf(Wrapped(PositionOf(at, shape) - shifts[0] % size, size), shape);
    }
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t size = shape[static_cast<int>(axes[i])];
      int64_t& place = at[static_cast<size_t>(axes[i])];
      place = Wrapped(place - shifts[i] % size, size);
    }
    return true;
  });
}

}  // namespace

ir::OpDef Roll() {
  ir::OpDef op;
  op.name = "roll";
  op.doc =
      "Elements moved by `shifts` along `axes`, those that leave at the end coming in at the "
      "start. Without axes there is one shift, of all elements in row-major order.";
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"shifts", ir::RequiredAttr{ir::Ints()}}, {"axes", ir::Ints()}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    RML_ASSIGN(const ir::Ints axes, call.axes("axes", call.rank(0)));
    return SameAxes(call, 1, axes);
  });
  op.infer = InferRoll;
  op.reference = ReferenceRoll;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    ir::Ints back = call.call().ints("shifts");
    for (int64_t& shift : back) shift = -shift;
    return {Emit(call.b()).one("roll", {call.grad(0)},
                               {{"shifts", back}, {"axes", call.call().ints("axes")}})};
  };
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{}}}, {{"shifts", ir::Ints{3}}}},
        {{{{7}}}, {{"shifts", ir::Ints{2}}, {"axes", ir::Ints{0}}}},
        {{{{3, 5}}}, {{"shifts", ir::Ints{-4}}}},
        {{{{2, 3, 17}}}, {{"shifts", ir::Ints{-20}}, {"axes", ir::Ints{-1}}}},
        {{{{4, 3, 2}}}, {{"shifts", ir::Ints{1, 101}}, {"axes", ir::Ints{2, 0}}}},
        {{{{0, 3}}}, {{"shifts", ir::Ints{1}}, {"axes", ir::Ints{0}}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
