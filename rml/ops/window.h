// Windows that slide over spatial axes: what the geometries of convolution and pooling share.
#pragma once

#include <string_view>

#include "rml/ir/op_call.h"

namespace rml::ops {

// The attribute `name`, so many numbers of at least `least`; of none: all `fallback`.
core::Expected<ir::Ints> WindowNumbers(const ir::OpCall& call, std::string_view name, size_t count,
                                       int64_t fallback, int64_t least);

// How far a window can slide along an axis of x: its size with padding before and after it, less
// what `window` places with `dilation` between them reach over.
core::Expected<ir::Dim> WindowRoom(int axis, ir::Dim size, ir::Dim window, int64_t dilation,
                                   int64_t before, int64_t after);

}  // namespace rml::ops
