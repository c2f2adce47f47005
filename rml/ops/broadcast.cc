#include "rml/ops/broadcast.h"

#include <algorithm>

namespace rml::ops {

using core::Expected;
using ir::Dim;
using ir::Dims;
using ir::OpCall;

Expected<Dims> BroadcastDims(const Dims& a, const Dims& b) {
  const int rank = std::max(a.rank(), b.rank());
  Dims dims;
  for (int i = rank; i >= 1; --i) {
    const Dim from_a = i <= a.rank() ? a.dim(-i) : 1;
    const Dim from_b = i <= b.rank() ? b.dim(-i) : 1;
    if (!(from_a == from_b) && !(from_a == Dim(1)) && !(from_b == Dim(1))) {
      return core::InvalidArgument("shapes ", a.ToString(), " and ", b.ToString(),
                                   " do not broadcast: axis -", i, " is ", from_a.ToString(),
                                   " and ", from_b.ToString());
    }
    dims.Append(from_a == Dim(1) ? from_b : from_a);
  }
  return dims;
}

Expected<Dims> BroadcastInputs(const OpCall& call, int first) {
  Dims dims;
  bool any = false;
  for (int i = first; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    if (!any) {
      dims = call.input(i).dims;
      any = true;
      continue;
    }
    RML_ASSIGN(dims, BroadcastDims(dims, call.input(i).dims));
  }
  return dims;
}

Expected<ir::Axes> BroadcastAxes(const OpCall& call) {
  RML_ASSIGN(const Dims out, BroadcastInputs(call));
  ir::Axes axes;
  for (int axis = 0; axis < out.rank(); ++axis) {
    ir::NamedAxis& named = axes.emplace_back();
    named.name = core::StrCat("d", axis);
    named.role = ir::AxisRole::kFree;
    named.outputs.assign(call.op().outputs.size(), axis);
    for (int i = 0; i < call.inputs(); ++i) {
      const int place = call.has(i) ? axis - (out.rank() - call.rank(i)) : -1;
      const bool here = place >= 0 && call.dim(i, place) == out[axis];
      named.inputs.push_back(here ? place : -1);
    }
  }
  return axes;
}

Expected<ir::Axes> AxesButOne(const OpCall& call) {
  RML_ASSIGN(const int whole, call.axis("axis", call.rank(0)));
  ir::Axes axes;
  for (int axis = 0; axis < call.rank(0); ++axis) {
    ir::NamedAxis& named = axes.emplace_back();
    named.name = core::StrCat("d", axis);
    named.role = axis == whole ? ir::AxisRole::kWhole : ir::AxisRole::kFree;
    named.inputs.assign(static_cast<size_t>(call.inputs()), axis);
    named.outputs.assign(call.op().outputs.size(), axis);
  }
  return axes;
}

std::array<int64_t, core::kMaxRank> BroadcastStrides(const core::Shape& shape,
                                                     const core::Shape& out) {
  std::array<int64_t, core::kMaxRank> strides = {};
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const int place = axis + out.rank() - shape.rank();
    strides[static_cast<size_t>(place)] = shape[axis] == 1 && out[place] != 1 ? 0 : stride;
    stride *= shape[axis];
  }
  return strides;
}

}  // namespace rml::ops
