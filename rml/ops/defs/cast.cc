// y = x in another dtype
#include <algorithm>

#include "rml/ops/elementwise.h"
#include "rml/ops/linear_quant.h"
#include "rml/ops/wide.h"

namespace rml::ops {
namespace {

core::Status InferCast(const ir::OpCall& call, ir::Types* outputs) {
  const auto dtype = call.attr<core::DType>("dtype");
  if (core::IsQuantized(dtype)) {
    return core::Unsupported("to ", core::Name(dtype),
                             " it takes a choice of scales; use quantize");
  }
  if (call.flag("saturate") && !ir::kFloats8.Has(dtype)) {
    return core::InvalidArgument("saturate is for ", ir::kFloats8.ToString(), ", and dtype is ",
                                 core::Name(dtype));
  }
  outputs->push_back({dtype, call.input(0).dims});
  return {};
}

core::Status ReferenceCast(ir::RefCall& call) {
  const auto dtype = call.call().attr<core::DType>("dtype");
  const bool saturate = call.call().flag("saturate");
  call.VisitIn(0, [&](auto in_zero) {
    call.VisitOut(0, [&](auto out_zero) {
      using From = decltype(in_zero);
      using To = decltype(out_zero);
      const auto x = call.in<From>(0);
      const auto y = call.out<To>(0);
      for (int64_t i = 0; i < y.size(); ++i) {
        y[i] = CastWide<From, To>(x[i], dtype);
        if constexpr (std::is_same_v<To, double>) {
          if (saturate) y[i] = SaturateF8(y[i], dtype);
        }
      }
    });
  });
  return {};
}

// Rounding passes the gradient on; what saturated has none, as from `clamp`.
ir::Values VjpCast(ir::ExprCall& call) {
  const ir::Value& x = call.in(0);
  if (!ir::CarriesGradient(x.dtype())) return {ir::Value()};
  const Emit e(call.b());
  const ir::Value grad = e.cast(call.grad(0), x.dtype());
  if (!call.call().flag("saturate")) return {grad};
  const double largest = QuantRange(call.out(0).dtype()).second;
  const ir::Value inside = e.one("less_equal", {e.one("abs", {x}), e.like(x, largest)});
  return {e.where(inside, grad, e.like(grad, 0))};
}

}  // namespace

ir::OpDef Cast() {
  ir::OpDef op;
  op.name = "cast";
  op.doc =
      "The same values in another `dtype`. Floats round once, to nearest even; to integers they "
      "lose their fraction and saturate, NaN becomes 0; integers keep their low bits; to `bool`: "
      "whether not zero. What is beyond a float's range becomes infinite, in f8_e4m3, which has "
      "no infinity, NaN (as in StableHLO and PyTorch); with `saturate`, for the 8-bit floats "
      "only, it and infinities become the largest finite number of their sign (ONNX's default). "
      "NaN stays NaN.";
  op.inputs = {{"x"}};
  op.outputs = {{"y", "U"}};
  op.types = {{"T", ir::kPlain | ir::kInts4}, {"U", ir::kPlain | ir::kInts4}};
  op.attributes = {{"dtype", ir::RequiredAttr{core::DType::kF32}}, {"saturate", false}};
  op.axes = ir::AxesRule(BroadcastAxes);
  op.infer = InferCast;
  op.reference = ReferenceCast;
  op.vjp = VjpCast;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const core::DType to : (ir::kPlain | ir::kInts4).list()) {
      samples.push_back(
          {{{{2, 36}, ir::Fill::Normal(0, 3)}}, {{"dtype", to}}, to == core::DType::kF64});
    }
    samples.push_back({{{{8}, ir::Fill::Values({1e30, -1e30, 300, -300, 0.5, -0.5, 65504, 70000})}},
                       {{"dtype", core::DType::kI8}},
                       false});
    for (const core::DType to : ir::kFloats8.list()) {
      samples.push_back({{{{8}, ir::Fill::Values({448, 449, -465, 57344, 61440, -1e9, 0.3, -0.0})}},
                         {{"dtype", to}, {"saturate", true}},
                         false});
    }
    samples.push_back({{{{0}}}, {{"dtype", core::DType::kF64}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
