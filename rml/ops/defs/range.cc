// y[i] = start + i · step
#include "rml/ops/elementwise.h"
#include "rml/ops/norm.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

core::Status InferRange(const ir::OpCall& call, ir::Types* outputs) {
  for (int i = 0; i < 2; ++i) {
    if (call.rank(i) != 0)
      return core::InvalidArgument(call.input_name(i), " has ", call.rank(i),
                                   " dimensions, expected none");
  }
  const ir::Dims& count = call.attr<ir::Dims>("count");
  if (count.rank() != 1) return core::InvalidArgument("count is not one dimension");
  constexpr int64_t kMost = int64_t{1} << 61;  // so that places do not overflow
  if (call.integer("first") < 0 || call.integer("first") > kMost)
    return core::InvalidArgument("first is ", call.integer("first"), ", expected 0 to ", kMost);
  outputs->push_back({call.dtype(0), count});
  return {};
}

core::Status ReferenceRange(ir::RefCall& call) {
  const int64_t first = call.call().integer("first");
  call.VisitNumber(0, [&](auto zero) {
    using T = decltype(zero);
    const T start = call.in<T>(0)[0];
    const T step = call.in<T>(1)[0];
    const auto y = call.out<T>(0);
    for (int64_t i = 0; i < y.size(); ++i) {
      if constexpr (std::is_same_v<T, int64_t>) {
        y[i] = ir::WrapAdd(start, ir::WrapMul(ir::WrapAdd(first, i), step));
      } else {
        y[i] = start + static_cast<T>(first + i) * step;
      }
    }
  });
  return {};
}

ir::Values VjpRange(ir::ExprCall& call) {
  const Emit e(call.b());
  ir::Values grads(size_t{2});
  if (call.needs(0)) grads[0] = e.sum(call.grad(0), {0});
  if (call.needs(1)) {
    const core::DType dtype = call.grad(0).dtype();
    const ir::Value places = e.one("iota", {},
                                   {{"shape", call.grad(0).type().dims},
                                    {"dtype", core::DType::kI64},
                                    {"start", call.call().integer("first")}});
    // In f32 at least: f16 has no places beyond 65,504, and rounds those beyond 2,048.
    const core::DType wide = StatType(dtype);
    const ir::Value weighted = e.mul(e.cast(call.grad(0), wide), e.cast(places, wide));
    grads[1] = e.cast(e.sum(weighted, {0}), dtype);
  }
  return grads;
}

}  // namespace

ir::OpDef Range() {
  ir::OpDef op;
  op.name = "range";
  op.doc =
      "`y[i] = start + (first + i) · step`, `count` elements (a dimension; for a range up to a "
      "limit, ⌈(limit - start) / step⌉). Every element is computed from its place, and rounded "
      "once; integers wrap.";
  op.inputs = {{"start"}, {"step"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kNumbers}};
  op.attributes = {{"count", ir::RequiredAttr{ir::Dims()}}, {"first", 0}};
  op.axes = ir::AxesRule([](const ir::OpCall&) -> core::Expected<ir::Axes> {
    return ir::Axes{FreeAxis(0, {-1, -1}, {0})};
  });
  op.infer = InferRange;
  op.reference = ReferenceRange;
  op.vjp = VjpRange;
  op.localize = [](const ir::OpCall& call,
                   const ir::AxisPiece& piece) -> core::Expected<ir::AttrList> {
    return ir::AttrList{{"count", ir::Dims{piece.size}},
                        {"first", call.integer("first") + piece.begin}};
  };
  op.samples = [] {
    const auto number = [](double value) { return ir::SampleInput({}, ir::Fill::Values({value})); };
    return std::vector<ir::Sample>{
        {{number(2), number(3)}, {{"count", ir::Dims{7}}}},
        {{number(-1.5), number(0.25)}, {{"count", ir::Dims{33}}}},
        {{number(5), number(-2)}, {{"count", ir::Dims{4}}, {"first", 3}}},
        {{number(5), number(1)}, {{"count", ir::Dims{1}}}},
        {{number(5), number(1)}, {{"count", ir::Dims{0}}}},
    };
  };
  op.tolerance = {1e-15, 1e-6, 2e-3, 2e-2, 0};
  return op;
}

}  // namespace rml::ops
