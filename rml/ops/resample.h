// Linear resampling along spatial axes, one axis after the other: what resize and adaptive pooling
// share with their gradients.
//
// x: [batch, channels, place…], y: [batch, channels, other place…].
#pragma once

#include <vector>

#include "rml/ir/op_call.h"
#include "rml/ir/ref_call.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {

// y[o] = Σ weight · x[from] over the taps of o.
struct Tap {
  int64_t from = 0;
  double weight = 0;
};
using AxisTaps = std::vector<std::vector<Tap>>;  // by the place in y

// Taps for an axis of `in` elements that becomes one of `out`.
AxisTaps AdaptiveTaps(int64_t in, int64_t out);

std::vector<ir::AttrDef> ResizeAttributes();
ir::AttrList ResizeAttributesOf(const ir::OpCall& call);
core::Status CheckResize(const ir::OpCall& call);
AxisTaps ResizeTaps(const ir::OpCall& call, int axis, int64_t in, int64_t out);

// Dimensions with these sizes of spatial axes; checks their number.
core::Expected<ir::Dims> WithSizes(const ir::Dims& dims, const ir::Dims& sizes);
ir::Dims SizesOf(const ir::Dims& dims);  // the spatial ones
// "axis 2 has no elements to make 3 of"
core::Status CheckNotEmpty(const ir::Dims& from, const ir::Dims& to);

core::Expected<ir::Axes> ResampleAxes(const ir::OpCall& call);

// Calls body(y position, x position, weight) for every product.
template <typename Body>
void ForTaps(const core::Shape& x, const core::Shape& y, const std::vector<AxisTaps>& taps,
             Body&& body) {
  for (int64_t at = 0; at < y.elements(); ++at) {
    const Coordinates to = CoordinatesOf(at, y);
    int64_t count = 1;
    for (size_t s = 0; s < taps.size(); ++s)
      count *= static_cast<int64_t>(taps[s][static_cast<size_t>(to[s + 2])].size());
    for (int64_t k = 0; k < count; ++k) {
      Coordinates from = {to[0], to[1]};
      double weight = 1;
      int64_t rest = k;
      for (size_t s = taps.size(); s-- > 0;) {
        const std::vector<Tap>& here = taps[s][static_cast<size_t>(to[s + 2])];
        const Tap& tap = here[static_cast<size_t>(rest) % here.size()];
        rest /= static_cast<int64_t>(here.size());
        from[s + 2] = tap.from;
        weight *= tap.weight;
      }
      body(at, PositionOf(from, x), weight);
    }
  }
}

}  // namespace rml::ops
