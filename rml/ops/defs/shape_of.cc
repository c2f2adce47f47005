// The dimensions of a value.
#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef ShapeOf() {
  ir::OpDef op;
  op.name = "shape_of";
  op.doc =
      "The dimensions of `x` as a vector, outermost first. What is known before the run is better "
      "taken from the type.";
  op.inputs = {{"x", "*"}};
  op.outputs = {{"y", "i64"}};
  op.types = {};
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    outputs->push_back({core::DType::kI64, {call.rank(0)}});
    return {};
  };
  op.reference = [](ir::RefCall& call) -> core::Status {
    const core::Shape& shape = call.in_shape(0);
    for (int axis = 0; axis < shape.rank(); ++axis) call.out<int64_t>(0)[axis] = shape[axis];
    return {};
  };
  op.no_gradient = true;
  op.cost = [](const ir::OpCall& call) {
    return ir::Cost{0, 0, 8 * static_cast<double>(call.rank(0))};
  };
  op.samples = [] {
    return std::vector<ir::Sample>{{{{{}}}},
                                   {{{{7}}}},
                                   {{{{2, 0, 3}}}},
                                   {{{{4, 5}, ir::Fill::Normal(), core::DType::kBool}}},
                                   {{{{1, 2, 1, 2, 1, 2, 1, 2}}}}};
  };
  return op;
}

}  // namespace rml::ops
