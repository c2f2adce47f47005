// Geometry that convolution and its two gradients share.
//
// x: [batch, channels, spatial…], w: [outputs, channels / groups, window…], y: [batch, outputs,
// spatial…].
#pragma once

#include "rml/ir/op_call.h"
#include "rml/ir/ref_call.h"

namespace rml::ops {

struct ConvGeometry {
  int spatial = 0;  // axes
  ir::Ints strides, dilation;
  ir::Ints pads;  // before and after each axis: [before0, after0, before1, …]
  int64_t groups = 1;
};

// The attributes strides, dilation, pads (empty: ones and zeros) and groups; checked for `spatial`
// axes.
core::Expected<ConvGeometry> GeometryOf(const ir::OpCall& call, int spatial);
std::vector<ir::AttrDef> ConvAttributes();

// y's dimensions for x and w. Fails where they do not fit.
core::Expected<ir::Dims> ConvOutput(const ConvGeometry& g, const ir::Dims& x, const ir::Dims& w);

// Calls body(y position, x position, w position) for every product of the convolution, in the order
// of y, then of w.
template <typename Body>
void ForProducts(const ConvGeometry& g, const core::Shape& x, const core::Shape& w,
                 const core::Shape& y, Body&& body) {
  const int64_t group_outputs = w[0] / g.groups;
  const core::Shape window = [&] {
    std::vector<int64_t> dims(w.dims().begin() + 1, w.dims().end());
    return *core::Shape::Make(dims);
  }();
  for (int64_t at = 0; at < y.elements(); ++at) {
    std::array<int64_t, core::kMaxRank> to = {};
    int64_t rest = at;
    for (int axis = y.rank() - 1; axis >= 0; --axis) {
      to[static_cast<size_t>(axis)] = rest % y[axis];
      rest /= y[axis];
    }
    for (int64_t k = 0; k < window.elements(); ++k) {
      std::array<int64_t, core::kMaxRank> in = {};
      rest = k;
      for (int axis = window.rank() - 1; axis >= 0; --axis) {
        in[static_cast<size_t>(axis)] = rest % window[axis];
        rest /= window[axis];
      }
      int64_t from = to[0] * x[1] + to[1] / group_outputs * w[1] + in[0];
      bool inside = true;
      for (int s = 0; s < g.spatial && inside; ++s) {
        const auto i = static_cast<size_t>(s);
        const int64_t place = to[i + 2] * g.strides[i] + in[i + 1] * g.dilation[i] - g.pads[2 * i];
        inside = place >= 0 && place < x[s + 2];
        from = from * x[s + 2] + place;
      }
      if (inside) body(at, from, to[1] * window.elements() + k);
    }
  }
}

// Which axes may be split: the batch; outputs and channels where there is one group.
core::Expected<ir::Axes> ConvAxes(const ir::OpCall& call, int64_t groups, int x, int w, int y);

// Two operations for each product.
ir::Cost ConvCost(const ir::OpCall& call, const ir::Dims& w, const ir::Dims& y);

std::vector<std::pair<core::Shape, std::pair<core::Shape, ir::AttrList>>>
ConvCases();  // x, w, attributes
core::Shape ConvCaseOutput(const core::Shape& x, const core::Shape& w,
                           const ir::AttrList& attributes);

}  // namespace rml::ops
