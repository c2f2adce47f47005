// y = x in another dtype
#include "rml/ops/elementwise.h"
#include "rml/ops/wide.h"

namespace rml::ops {
namespace {

core::Status ReferenceCast(ir::RefCall& call) {
  call.VisitIn(0, [&](auto in_zero) {
    call.VisitOut(0, [&](auto out_zero) {
      using From = decltype(in_zero);
      using To = decltype(out_zero);
      const auto x = call.in<From>(0);
      const auto y = call.out<To>(0);
      for (int64_t i = 0; i < y.size(); ++i)
        y[i] = CastWide<From, To>(x[i], call.call().attr<core::DType>("dtype"));
    });
  });
  return {};
}

}  // namespace

ir::OpDef Cast() {
  ir::OpDef op;
  op.name = "cast";
  op.doc =
      "The same values in another `dtype`. Floats round once, to nearest even; to integers they "
      "lose their fraction and saturate, NaN "
      "becomes 0; integers keep their low bits; to `bool`: whether not zero.";
  op.inputs = {{"x"}};
  op.outputs = {{"y", "U"}};
  op.types = {{"T", ir::kPlain | ir::kInts4}, {"U", ir::kPlain | ir::kInts4}};
  op.attributes = {{"dtype", ir::RequiredAttr{core::DType::kF32}}};
  op.axes = ir::AxesRule(BroadcastAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    const auto dtype = call.attr<core::DType>("dtype");
    if (core::IsQuantized(dtype)) {
      return core::Unsupported("to ", core::Name(dtype),
                               " it takes a choice of scales; use quantize");
    }
    outputs->push_back({dtype, call.input(0).dims});
    return {};
  };
  op.reference = ReferenceCast;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    if (!ir::CarriesGradient(call.in(0).dtype())) return {ir::Value()};
    return {Emit(call.b()).cast(call.grad(0), call.in(0).dtype())};
  };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const core::DType to : (ir::kPlain | ir::kInts4).list()) {
      samples.push_back(
          {{{{2, 36}, ir::Fill::Normal(0, 3)}}, {{"dtype", to}}, to == core::DType::kF64});
    }
    samples.push_back({{{{8}, ir::Fill::Values({1e30, -1e30, 300, -300, 0.5, -0.5, 65504, 70000})}},
                       {{"dtype", core::DType::kI8}},
                       false});
    samples.push_back({{{{0}}}, {{"dtype", core::DType::kF64}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
