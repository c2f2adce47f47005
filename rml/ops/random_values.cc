#include "rml/ops/random_values.h"

#include <cmath>

#include "rml/ops/elementwise.h"

namespace rml::ops {

using ir::Dims;
using ir::OpCall;

namespace {

core::Expected<core::DType> ChosenDType(const OpCall& call, ir::DTypeSet dtypes) {
  const auto dtype = call.attr<core::DType>("dtype");
  if (!dtypes.Has(dtype)) {
    return core::Unsupported("dtype is ", core::Name(dtype), ", expected one of ",
                             dtypes.ToString());
  }
  return dtype;
}

core::Expected<ir::AttrList> Piece(const OpCall& call, const Dims& dims,
                                   const ir::AxisPiece& piece) {
  for (int axis = 0; axis < dims.rank(); ++axis) {
    if (core::StrCat("d", axis) == piece.axis) return RandomPiece(call, dims, axis, piece);
  }
  return core::Internal("there is no axis ", piece.axis);
}

}  // namespace

ir::OpDef RandomOfShape(std::string_view name, ir::DTypeSet dtypes, core::DType fallback) {
  ir::OpDef op;
  op.name = name;
  op.inputs = {{"key", "u32"}};
  op.outputs = {{"y", "*"}};
  op.types = {};
  op.attributes = RandomAttributes();
  op.attributes.push_back({"shape", ir::RequiredAttr{Dims()}});
  op.attributes.push_back({"dtype", fallback});
  op.axes = ir::AxesRule([](const OpCall& call) -> core::Expected<ir::Axes> {
    ir::Axes axes;
    for (int i = 0; i < call.attr<Dims>("shape").rank(); ++i)
      axes.push_back({core::StrCat("d", i), ir::AxisRole::kFree, ir::Combine::kSum, {-1}, {i}});
    return axes;
  });
  op.infer = [dtypes](const OpCall& call, ir::Types* outputs) -> core::Status {
    const Dims& dims = call.attr<Dims>("shape");
    RML_TRY(CheckRandom(call, 0, dims));
    RML_ASSIGN(const core::DType dtype, ChosenDType(call, dtypes));
    outputs->push_back({dtype, dims});
    return {};
  };
  op.no_gradient = true;
  op.localize = [](const OpCall& call, const ir::AxisPiece& piece) -> core::Expected<ir::AttrList> {
    Dims dims = call.attr<Dims>("shape");
    RML_ASSIGN(ir::AttrList attributes, Piece(call, dims, piece));
    for (int axis = 0; axis < dims.rank(); ++axis) {
      if (core::StrCat("d", axis) == piece.axis) dims[axis] = piece.size;
    }
    attributes.push_back({"shape", dims});
    return attributes;
  };
  op.samples = [dtypes] {
    std::vector<ir::Sample> samples;
    for (const core::DType dtype : dtypes.list())
      samples.push_back({{SampleKey()}, {{"shape", Dims{3, 7}}, {"dtype", dtype}}});
    samples.push_back({{SampleKey(1, 4e9)}, {{"shape", Dims()}}});
    samples.push_back({{SampleKey()}, {{"shape", Dims{0, 2}}}});
    samples.push_back(
        {{SampleKey()},
         {{"shape", Dims{2, 3}}, {"global_shape", Dims{4, 9}}, {"start", ir::Ints{2, 5}}}});
    return samples;
  };
  return op;
}

ir::OpDef RandomOfParameters(std::string_view name, std::vector<std::string_view> parameters,
                             ir::DTypeSet dtypes, core::DType fallback) {
  ir::OpDef op;
  op.name = name;
  op.inputs = {{"key", "u32"}};
  for (const std::string_view parameter : parameters) op.inputs.push_back({parameter});
  op.attributes = RandomAttributes();
  const bool own = dtypes.empty();
  op.outputs = {{"y", own ? "T" : "*"}};
  if (!own) op.attributes.push_back({"dtype", fallback});
  op.axes = ir::AxesRule([](const OpCall& call) -> core::Expected<ir::Axes> {
    ir::Axes axes;
    for (int i = 0; i < call.rank(1); ++i) {
      std::vector<int> inputs(static_cast<size_t>(call.inputs()), i);
      inputs[0] = -1;
      axes.push_back({core::StrCat("d", i), ir::AxisRole::kFree, ir::Combine::kSum, inputs, {i}});
    }
    return axes;
  });
  op.infer = [own, dtypes](const OpCall& call, ir::Types* outputs) -> core::Status {
    const Dims& dims = call.input(1).dims;
    for (int i = 2; i < call.inputs(); ++i) {
      if (call.input(i).dims == dims) continue;
      return core::InvalidArgument(call.input_name(1), " is ", dims.ToString(), " and ",
                                   call.input_name(i), " ", call.input(i).dims.ToString());
    }
    RML_TRY(CheckRandom(call, 0, dims));
    core::DType dtype = call.dtype(1);
    if (!own) {
      RML_ASSIGN(dtype, ChosenDType(call, dtypes));
    }
    outputs->push_back({dtype, dims});
    return {};
  };
  op.no_gradient = true;
  op.localize = [](const OpCall& call, const ir::AxisPiece& piece) {
    return Piece(call, call.input(1).dims, piece);
  };
  return op;
}

double UniformOf(core::DType dtype, const random::Stream& stream, uint64_t place) {
  if (dtype == core::DType::kF64) return stream.Uniform(place);
  const double u = stream.UniformF32(place);
  const int bits = dtype == core::DType::kF16 ? 11 : dtype == core::DType::kBF16 ? 8 : 24;
  return std::ldexp(std::floor(std::ldexp(u, bits)), -bits);
}

ir::SampleInput SampleKey(double low, double high) { return {{2}, ir::Fill::Values({low, high})}; }

}  // namespace rml::ops
