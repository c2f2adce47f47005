// y = clamp(round(x / scale) + zero point)
#include <algorithm>
#include <cmath>

#include "rml/ops/elementwise.h"
#include "rml/ops/linear_quant.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {
namespace {

enum { kX, kScale, kZeroPoint };

core::Status InferQuantize(const ir::OpCall& call, ir::Types* outputs) {
  const auto dtype = call.attr<core::DType>("dtype");
  if (!kQuantTypes.Has(dtype)) {
    return core::Unsupported("dtype is ", core::Name(dtype), ", expected one of ",
                             kQuantTypes.ToString());
  }
  RML_TRY(CheckQuant(call));
  outputs->push_back({dtype, call.input(kX).dims});
  return {};
}

core::Status ReferenceQuantize(ir::RefCall& call) {
  const auto x = call.in<double>(kX);
  const auto scale = call.in<double>(kScale);
  const auto dtype = call.call().attr<core::DType>("dtype");
  const auto [low, high] = QuantRange(dtype);
  // The division of the dtype: a halfway case must be one for every kernel.
  const bool wide = call.call().dtype(kX) == core::DType::kF64;
  const int64_t block = call.call().integer("block_size");
  int axis = 0;
  if (scale.rank() > 0) {
    RML_ASSIGN(axis, call.call().axis("axis", x.rank()));
  }
  // The scale's element for x's at a position.
  const auto place_of = [&](int64_t i) -> int64_t {
    if (scale.rank() == 0) return 0;
    Coordinates at = CoordinatesOf(i, x.shape());
    if (block == 0) return at[static_cast<size_t>(axis)];
    at[static_cast<size_t>(axis)] /= block;
    return PositionOf(at, scale.shape());
  };
  std::vector<double> zero(static_cast<size_t>(scale.size()));
  if (call.has(kZeroPoint)) {
    call.VisitNumber(kZeroPoint, [&](auto tag) {
      const auto points = call.in<decltype(tag)>(kZeroPoint);
      for (size_t i = 0; i < zero.size(); ++i)
        zero[i] = static_cast<double>(points[points.rank() == 0 ? 0 : static_cast<int64_t>(i)]);
    });
  }
  call.VisitOut(0, [&](auto tag) {
    using T = decltype(tag);
    const auto y = call.out<T>(0);
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t place = place_of(i);
      const double ratio =
          wide ? x[i] / scale[place]
               : static_cast<double>(static_cast<float>(x[i]) / static_cast<float>(scale[place]));
      const double point = zero[static_cast<size_t>(place)];
      if constexpr (std::is_same_v<T, double>) {
        y[i] = SaturateF8(ratio + point, dtype);
      } else {
        const double steps = std::isnan(ratio) ? 0 : std::nearbyint(ratio);
        y[i] = static_cast<T>(std::clamp(steps + point, low, high));
      }
    }
  });
  return {};
}

}  // namespace

ir::OpDef Quantize() {
  ir::OpDef op;
  op.name = "quantize";
  op.doc =
      "Linear quantisation, as ONNX's QuantizeLinear: `y = clamp(round(x / scale) + zero_point)` "
      "to the range of `dtype`, halves to even. `scale` and `zero_point` (none: 0) are scalars or "
      "hold a number for each place of `axis`; with a `block_size` they have x's dimensions, but "
      "for `axis`, whose places are blocks of that many of x's (the last one may be smaller). The "
      "division is made in f32, or in f64 where x is; NaN becomes the zero point. To 8-bit floats "
      "the sum is rounded as by a `cast` that saturates, and NaN stays NaN.";
  op.inputs = {{"x"}, {"scale", "S"}, {"zero_point", "Z", ir::Arity::kOptional}};
  op.outputs = {{"y", "*"}};
  op.types = {{"T", ir::kFloats}, {"S", ir::kFloats}, {"Z", kZeroPoints}};
  op.attributes = QuantAttributes();
  op.attributes.push_back({"dtype", core::DType::kU8});
  op.axes = ir::AxesRule(
      [](const ir::OpCall& call) { return QuantAxes(call, call.attr<core::DType>("dtype")); });
  op.infer = InferQuantize;
  op.reference = ReferenceQuantize;
  op.no_gradient = true;
  op.samples = [] {
    const ir::SampleInput one = {{}, ir::Fill::Values({0.05})};
    const ir::Fill scales = ir::Fill::Uniform(0.01, 0.5);
    std::vector<ir::Sample> samples;
    for (const core::DType dtype : kQuantTypes.list()) {
      samples.push_back(
          {{{{3, 8}, ir::Fill::Normal(0, 4)}, one, {{}, ir::Fill::Values({3}), core::DType::kI8}},
           {{"dtype", dtype}}});
      samples.push_back({{{{3, 8}, ir::Fill::Normal(0, 4)}, {{8}, scales}}, {{"dtype", dtype}}});
    }
    samples.push_back(
        {{{{4, 3, 5}}, {{4}, scales}, {{4}, ir::Fill::Uniform(0, 7)}}, {{"axis", 0}}});
    samples.push_back({{{{8}, ir::Fill::Values({0.5, 1.5, 2.5, -0.5, 1e30, -1e30, 7, 0})},
                        {{}, ir::Fill::Values({1})}},
                       {{"dtype", core::DType::kI8}}});
    for (const core::DType dtype : ir::kFloats8.list()) {
      samples.push_back({{{{8}, ir::Fill::Values({448, 449, -465, 57344, 1e30, -1e30, 0.3, 0})},
                          {{}, ir::Fill::Values({1})}},
                         {{"dtype", dtype}}});
    }
    samples.push_back({{{{3, 4}, ir::Fill::Normal(0, 4)},
                        {{4}, scales},
                        {{4}, ir::Fill::Values({-8, 7, 0, 1}), core::DType::kI4}},
                       {{"dtype", core::DType::kI4}}});
    samples.push_back(
        {{{{4, 6}, ir::Fill::Normal(0, 4)}, {{2, 6}, scales}, {{2, 6}, ir::Fill::Uniform(0, 7)}},
         {{"axis", 0}, {"block_size", 2}}});
    samples.push_back({{{{0, 4}}, one}});
    samples.push_back({{{{3, 8}, ir::Fill::Normal(0, 4)}, {{3, 4}, scales}}, {{"block_size", 2}}});
    samples.push_back({{{{5, 3}, ir::Fill::Normal(0, 4)},
                        {{2, 3}, scales},
                        {{2, 3}, ir::Fill::Uniform(0, 9), core::DType::kU16}},
                       {{"axis", -2}, {"block_size", 4}, {"dtype", core::DType::kI16}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
