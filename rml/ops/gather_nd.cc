#include "rml/ops/gather_nd.h"

#include "rml/ops/shape_ops.h"

namespace rml::ops {

using core::Expected;
using ir::Dims;

Expected<Dims> SlicesDims(const ir::OpCall& call) {
  const Dims& x = call.input(0).dims;
  const Dims& indices = call.input(1).dims;
  const int64_t batch = call.integer("batch_dims");
  if (indices.rank() == 0) return core::InvalidArgument("indices have no axis");
  if (batch < 0 || batch > x.rank() || batch >= indices.rank()) {
    return core::InvalidArgument("batch_dims is ", batch, ", x has ", x.rank(),
                                 " dimensions and indices have ", indices.rank());
  }
  for (int i = 0; i < batch; ++i) {
    if (x[i] == indices[i]) continue;
    return core::InvalidArgument("axis ", i, " is ", x[i].ToString(), " in x and ",
                                 indices[i].ToString(), " in indices");
  }
  const ir::Dim depth = indices.dim(-1);
  if (!depth.is_integer()) {
    return core::Unsupported("the last axis of indices is ", depth.ToString(),
                             "; it must be known before the run");
  }
  if (depth.value() > x.rank() - batch) {
    return core::InvalidArgument("indices have ", depth.ToString(),
                                 " numbers for each slice, and x ", x.rank() - batch,
                                 " axes for them");
  }
  const auto rest = static_cast<int>(batch + depth.value());
  RML_TRY(CheckRank(indices.rank() - 1 + x.rank() - rest));
  Dims dims;
  for (int i = 0; i + 1 < indices.rank(); ++i) dims.Append(indices[i]);
  for (int i = rest; i < x.rank(); ++i) dims.Append(x[i]);
  return dims;
}

Expected<ir::Axes> SlicesAxes(const ir::OpCall& call, int slices_input) {
  RML_TRY(SlicesDims(call));
  const auto batch = static_cast<int>(call.integer("batch_dims"));
  const int depth = static_cast<int>(call.dim(1, -1).value());
  const int rows = call.rank(1) - 1;  // axes of batch and indices
  const bool scatters = slices_input >= 0;
  const auto inputs = [&](int x, int indices, int slices) {
    std::vector<int> places = {x, indices};
    if (scatters) places.push_back(slices);
    return places;
  };
  ir::Axes axes;
  int number = 0;
  for (int i = 0; i < batch; ++i) axes.push_back(FreeAxis(number++, inputs(i, i, i), {i}));
  if (!scatters) {
    for (int i = batch; i < rows; ++i) axes.push_back(FreeAxis(number++, inputs(-1, i, -1), {i}));
  }
  for (int i = batch + depth; i < call.rank(0); ++i) {
    const int place = rows + i - batch - depth;
    axes.push_back(FreeAxis(number++, inputs(i, -1, place), {scatters ? i : place}));
  }
  return axes;
}

}  // namespace rml::ops
