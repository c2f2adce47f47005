#include "rml/ops/linear_quant.h"

#include <algorithm>
#include <cmath>

namespace rml::ops {

std::vector<ir::AttrDef> QuantAttributes() { return {{"axis", 1}, {"block_size", 0}}; }

core::Status CheckQuant(const ir::OpCall& call) {
  const int64_t block = call.integer("block_size");
  if (block < 0) return core::InvalidArgument("block_size is ", block);
  for (const int i : {1, 2}) {
    if (!call.has(i) || (call.rank(i) == 0 && block == 0)) continue;
    RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
    if (block > 0) {
      ir::Dims blocks = call.input(0).dims;
      blocks[axis] = FloorDiv(blocks[axis] + (block - 1), block);
      if (call.input(i).dims == blocks) continue;
      return core::InvalidArgument(call.input_name(i), " is ", call.input(i).dims.ToString(),
                                   ", expected ", blocks.ToString(), " for blocks of ", block,
                                   " along axis ", axis);
    }
    if (call.rank(i) != 1 || !(call.dim(i, 0) == call.dim(0, axis))) {
      return core::InvalidArgument(call.input_name(i), " is ", call.input(i).dims.ToString(),
                                   ", expected one number, or one for each of ",
                                   call.dim(0, axis).ToString(), " places of axis ", axis);
    }
  }
  if (call.has(2) && call.rank(2) > call.rank(1))
    return core::InvalidArgument("there are many zero points for one scale");
  return {};
}

core::Expected<ir::Axes> QuantAxes(const ir::OpCall& call, core::DType dtype) {
  const auto packed = [](core::DType any) { return core::Info(any).block_elements > 1; };
  const bool blocked = call.integer("block_size") > 0;
  int along = -1;
  if (blocked || call.rank(1) == 1) {
    RML_ASSIGN(along, call.axis("axis", call.rank(0)));
  }
  ir::Axes axes;
  for (int axis = 0; axis < call.rank(0); ++axis) {
    ir::NamedAxis& named = axes.emplace_back();
    named.name = core::StrCat("d", axis);
    const bool last = axis + 1 == call.rank(0);
    // A list's only axis is its last one.
    const bool last_of_point = blocked ? last : call.has(2) && call.rank(2) == 1 && axis == along;
    const bool whole = (blocked && axis == along) || (last && packed(dtype)) ||
                       (last_of_point && call.has(2) && packed(call.dtype(2)));
    named.role = whole ? ir::AxisRole::kWhole : ir::AxisRole::kFree;
    named.inputs = {axis};
    for (int i = 1; i < call.inputs(); ++i) {
      const bool listed = !blocked && call.has(i) && call.rank(i) == 1 && axis == along;
      // An axis in blocks is another one in the scale, of fewer places.
      const bool beside = blocked && call.has(i) && axis != along;
      named.inputs.push_back(listed ? 0 : beside ? axis : -1);
    }
    named.outputs = {axis};
  }
  return axes;
}

std::pair<double, double> QuantRange(core::DType dtype) {
  if (dtype == core::DType::kF8E4M3) return {-448, 448};
  if (dtype == core::DType::kF8E5M2) return {-57344, 57344};
  const core::DTypeInfo& info = core::Info(dtype);
  const int bits = 8 * info.block_bytes / info.block_elements;
  if (info.kind == core::DTypeKind::kUnsigned) return {0, std::ldexp(1, bits) - 1};
  return {-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1};
}

double SaturateF8(double x, core::DType dtype) {
  const auto [low, high] = QuantRange(dtype);
  return std::isnan(x) ? x : std::clamp(x, low, high);
}

}  // namespace rml::ops
