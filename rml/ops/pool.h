// Geometry that pooling and its gradients share, as ONNX's and PyTorch's.
//
// x: [batch, channels, place…], y: [batch, channels, window…].
#pragma once

#include <span>
#include <vector>

#include "rml/ir/op_call.h"
#include "rml/ir/ref_call.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {

struct PoolGeometry {
  ir::Ints kernel, strides, dilation;
  ir::Ints pads;  // before and after each axis: [before0, after0, before1, …]
  bool ceil_mode = false;

  int spatial() const { return static_cast<int>(kernel.size()); }
};

// "kernel", "strides", "pads", "dilation" and "ceil_mode"; and the same of a call, for its
// gradient.
std::vector<ir::AttrDef> PoolAttributes();
ir::AttrList PoolAttributesOf(const ir::OpCall& call);
core::Expected<PoolGeometry> PoolGeometryOf(const ir::OpCall& call);

// The dimensions of y for the spatial ones `places` of x.
core::Expected<ir::Dims> PoolOutput(const PoolGeometry& g, const ir::Dims& x);
core::Expected<ir::Dims> PooledDims(const ir::OpCall& call);  // of a call whose input 0 is x

// Batch and channels are free.
core::Expected<ir::Axes> PoolAxes(const ir::OpCall& call);

ir::Cost PoolCost(const ir::OpCall& call);

// Calls body(y position, x positions, padded) for every window, in order. `padded` counts the
// elements of the window that lie in x or in its padding.
template <typename Body>
core::Status ForWindows(const PoolGeometry& g, const core::Shape& x, const core::Shape& y,
                        Body&& body) {
  int64_t elements = 1;
  for (const int64_t size : g.kernel) elements *= size;
  std::vector<int64_t> from;
  for (int64_t at = 0; at < y.elements(); ++at) {
    const Coordinates to = CoordinatesOf(at, y);
    from.clear();
    int64_t padded = 0;
    for (int64_t k = 0; k < elements; ++k) {
      Coordinates place = {to[0], to[1]};
      bool inside = true;
      bool near = true;
      int64_t rest = k;
      for (int s = g.spatial() - 1; s >= 0; --s) {
        const auto i = static_cast<size_t>(s);
        const int64_t in = rest % g.kernel[i];
        rest /= g.kernel[i];
        const int64_t where = to[i + 2] * g.strides[i] + in * g.dilation[i] - g.pads[2 * i];
        inside = inside && where >= 0 && where < x[s + 2];
        near = near && where < x[s + 2] + g.pads[2 * i + 1];
        place[i + 2] = where;
      }
      if (inside) from.push_back(PositionOf(place, x));
      padded += near ? 1 : 0;
    }
    if (from.empty()) {
      return core::InvalidArgument("window ", at, " of ", y.ToString(),
                                   " lies in the padding alone");
    }
    RML_TRY(body(at, std::span<const int64_t>(from), padded));
  }
  return {};
}

struct PoolCase {
  core::Shape x;
  core::Shape y;
  ir::AttrList attributes;
};
std::vector<PoolCase> PoolCases();

}  // namespace rml::ops
