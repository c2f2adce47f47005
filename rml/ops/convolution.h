// What convolution and its two gradients share: all but their names and their sums.
//
// x: [batch, channels, spatial…], w: [outputs, channels / groups, window…], y: [batch, outputs,
// spatial…].
#pragma once

#include "rml/ir/op_call.h"
#include "rml/ir/op_def.h"
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

// Convolution is bilinear, and each of its three operators makes one of x, w and y of the other
// two: the numbers say which operand is the first input (0), the second (1) and the output (2). The
// dimensions of x or w that is made are the attribute `shape`.
struct ConvOperands {
  int x = 0;
  int w = 1;
  int y = 2;
};

// A definition without name, doc, names of operands and reference. Its gradient is the other two.
ir::OpDef ConvolutionForm(ConvOperands at);

}  // namespace rml::ops
