// What slice and slice_scatter share: the attributes starts, ends, axes and steps, with ONNX's
// meaning.
#pragma once

#include <vector>

#include "rml/ir/axes.h"
#include "rml/ir/op_call.h"
#include "rml/ir/op_def.h"

namespace rml::ops {

// Elements first, first + step, … of an axis.
struct SliceRange {
  int64_t first = 0;
  int64_t step = 1;
  int64_t count = 0;
};

std::vector<ir::AttrDef> SliceAttributes();

// The dimensions of a slice of a value of these dimensions. A symbolic one can be cut wherever the
// cut is at the same distance from one end for every size.
core::Expected<ir::Dims> SliceDims(const ir::OpCall& call, const ir::Dims& dims);
// What is taken of each axis.
core::Expected<std::vector<SliceRange>> SliceRanges(const ir::OpCall& call,
                                                    const core::Shape& shape);
// Axes that are not cut are free, in all inputs.
core::Expected<ir::Axes> SliceAxes(const ir::OpCall& call);

// The attributes of this call, for another one.
ir::AttrList SameSlice(const ir::OpCall& call);

// Attributes, and the shape of the value they cut.
std::vector<std::pair<core::Shape, ir::AttrList>> SliceCases();

}  // namespace rml::ops
