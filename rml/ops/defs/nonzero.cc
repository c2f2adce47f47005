// Where the elements are that are not zero.
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {
namespace {

core::Status ReferenceNonzero(ir::RefCall& call) {
  const core::Shape& shape = call.in_shape(0);
  const auto places = call.out<int64_t>(0);
  int64_t found = 0;
  call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    for (int64_t i = 0; i < x.size(); ++i) {
      if (x[i] == T{0}) continue;
      const Coordinates at = CoordinatesOf(i, shape);
      for (int axis = 0; axis < shape.rank(); ++axis)
        places(axis, found) = at[static_cast<size_t>(axis)];
      ++found;
    }
  });
  call.SetExtent(0, 1, found);
  return {};
}

}  // namespace

ir::OpDef Nonzero() {
  ir::OpDef op;
  op.name = "nonzero";
  op.doc =
      "The places of the elements that are not zero, in row-major order: one column of [rank, "
      "count] for each (ONNX's NonZero; transposed, `gather_nd` reads them). How many there are "
      "is known only when it runs. NaN is not zero.";
  op.inputs = {{"x"}};
  op.outputs = {{"places", "i64"}};
  op.types = {{"T", ir::kPlain}};
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    const ir::Dim found = call.FreshDim(0, call.input(0).dims.elements());
    outputs->push_back({core::DType::kI64, {call.rank(0), found}});
    return {};
  };
  op.reference = ReferenceNonzero;
  op.no_gradient = true;
  op.samples = [] {
    const ir::Fill some = ir::Fill::Values({0, 1, 0, 0, -2, 3, 0});
    return std::vector<ir::Sample>{
        {{{{7}, some}}},
        {{{{3, 5}, some}}},
        {{{{2, 17, 2}, some}}},
        {{{{4}, ir::Fill::Values({0})}}},
        {{{{2, 3}, ir::Fill::Values({1})}}},
        {{{{0, 3}}}},
        {{{{}, ir::Fill::Values({2})}}},
    };
  };
  return op;
}

}  // namespace rml::ops
