// Linear resampling along spatial axes, one axis after the other: the form that resize and adaptive
// pooling share with their gradients.
//
// x: [batch, channels, place…], y: [batch, channels, other place…].
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "rml/ir/op_call.h"
#include "rml/ir/op_def.h"

namespace rml::ops {

// y[o] = Σ weight · x[from] over the taps of o.
struct Tap {
  int64_t from = 0;
  double weight = 0;
};
using AxisTaps = std::vector<std::vector<Tap>>;  // by the place in y

struct Resampling {
  std::string_view forward;  // the operators' names
  std::string_view gradient;
  std::vector<ir::AttrDef> attributes = {};  // beside `sizes`
  std::function<core::Status(const ir::OpCall& call)> check = nullptr;
  // Taps for spatial axis `axis` of `in` elements that becomes one of `out`.
  std::function<AxisTaps(const ir::OpCall& call, int axis, int64_t in, int64_t out)> taps;
  // The attribute, of the forward operator only, with what y holds where an axis has no taps. None:
  // 0.
  std::string_view empty = {};
  struct Case {
    core::Shape x, y;
    ir::AttrList attributes = {};  // beside `sizes`
  };
  std::vector<Case> cases = {};
};

Resampling ResizeForm();
Resampling AdaptivePoolForm();

// The definition of either without name and doc. Each is the other's gradient.
ir::OpDef ResamplingForward(const Resampling& form);
ir::OpDef ResamplingGradient(const Resampling& form);

}  // namespace rml::ops
