// What dynamic_slice and dynamic_update_slice share: a box of some axes whose first element only
// the run knows.
#pragma once

#include <vector>

#include "rml/ir/axes.h"
#include "rml/ir/op_call.h"
#include "rml/ir/ref_call.h"

namespace rml::ops {

// The attribute `axes`, in its order; none: the first `count`. There must be `count`.
core::Expected<ir::Ints> DynamicAxes(const ir::OpCall& call, int64_t count);

// The axes of input 0 that are not cut are free, in the first `boxes` inputs and the output.
core::Expected<ir::Axes> DynamicSliceAxes(const ir::OpCall& call, int boxes, int64_t count);

// The first element in each axis of a box of `size` within `whole`, as input `starts` says of
// `axes`: moved so that the box lies inside, as StableHLO has it.
std::vector<int64_t> DynamicStarts(const ir::RefCall& call, int starts, const ir::Ints& axes,
                                   const core::Shape& whole, const core::Shape& size);

}  // namespace rml::ops
