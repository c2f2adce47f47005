#include "rml/ops/norm.h"

namespace rml::ops {

using core::Status;
using ir::Dims;
using ir::Ints;

core::DType StatType(core::DType dtype) {
  return dtype == core::DType::kF64 ? dtype : core::DType::kF32;
}

Ints NormalisedAxes(const ir::OpCall& call) {
  Ints axes;
  const auto first = call.axis("axis", call.rank(0));
  for (int axis = *first; axis < call.rank(0); ++axis) axes.push_back(axis);
  return axes;
}

Status InferNorm(const ir::OpCall& call, int statistics, ir::Types* outputs) {
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
  const Dims& x = call.input(0).dims;
  const Dims normalised(x.span().subspan(static_cast<size_t>(axis)));
  for (int i = 1; i < call.inputs(); ++i) {
    if (!call.has(i) || call.input(i).dims == normalised) continue;
    return core::InvalidArgument(call.input_name(i), " is ", call.input(i).dims.ToString(),
                                 ", and the normalised axes of x are ", normalised.ToString());
  }
  outputs->push_back(call.input(0));
  Dims kept = x;
  for (int i = axis; i < x.rank(); ++i) kept[i] = 1;
  for (int i = 0; i < statistics; ++i) outputs->push_back({StatType(call.dtype(0)), kept});
  return {};
}

core::Expected<ir::Axes> NormAxes(const ir::OpCall& call) {
  RML_ASSIGN(const int first, call.axis("axis", call.rank(0)));
  ir::Axes axes;
  for (int axis = 0; axis < call.rank(0); ++axis) {
    ir::NamedAxis& named = axes.emplace_back();
    named.name = core::StrCat("d", axis);
    const bool outer = axis < first;
    named.role = outer ? ir::AxisRole::kFree : ir::AxisRole::kWhole;
    for (int i = 0; i < call.inputs(); ++i)
      named.inputs.push_back(i == 0 ? axis : outer || !call.has(i) ? -1 : axis - first);
    named.outputs.assign(call.op().outputs.size(), outer ? axis : -1);
    named.outputs[0] = axis;
  }
  return axes;
}

ir::Value NormCount(const Emit& e, const ir::OpCall& call, core::DType dtype) {
  ir::Dim count = 1;
  for (const int64_t axis : NormalisedAxes(call))
    count = count * call.dim(0, static_cast<int>(axis));
  return e.size(count, dtype);
}

ir::Value ScaleChannels(const Emit& e, const ir::Value& y, const ir::Value& weight,
                        const ir::Value& bias) {
  const auto spread = [&](const ir::Value& channel) {
    Dims dims = {channel.dim(0)};
    for (int axis = 2; axis < y.rank(); ++axis) dims.Append(1);
    return e.reshape(e.cast(channel, y.dtype()), dims);
  };
  ir::Value scaled = y;
  if (weight.defined()) scaled = e.mul(scaled, spread(weight));
  if (bias.defined()) scaled = e.add(scaled, spread(bias));
  return scaled;
}

Status CheckChannels(const ir::OpCall& call) {
  if (call.rank(0) < 2)
    return core::InvalidArgument("x has ", call.rank(0), " dimensions, expected at least 2");
  for (int i = 1; i < call.inputs(); ++i) {
    if (!call.has(i) || call.input(i).dims == Dims{call.dim(0, 1)}) continue;
    return core::InvalidArgument(call.input_name(i), " is ", call.input(i).dims.ToString(),
                                 ", and x has ", call.dim(0, 1).ToString(), " channels");
  }
  return {};
}

}  // namespace rml::ops
