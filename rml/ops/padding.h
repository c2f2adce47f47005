// What pad and its gradient share: which element of x each element of the padded value shows.
#pragma once

#include "rml/ir/axes.h"
#include "rml/ir/op_call.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {

core::Status CheckPadMode(std::string_view mode);  // constant, reflect, edge, wrap
// `dims` with the pads of the call before and after each axis.
core::Expected<ir::Dims> PaddedDims(const ir::OpCall& call, const ir::Dims& dims);
// Axes without padding are free.
ir::Axes PadAxes(const ir::OpCall& call);

// From coordinates of the padded value to those of x, which has this shape.
class PadSource {
 public:
  PadSource(const ir::OpCall& call, const core::Shape& x);
  bool operator()(Coordinates& at) const;  // false: outside, in mode constant

 private:
  const ir::Ints& pads_;
  const std::string& mode_;
  core::Shape x_;
};

// Attributes, and the shapes of x and of the padded value.
struct PadCase {
  core::Shape x;
  core::Shape y;
  ir::AttrList attributes;
};
std::vector<PadCase> PadCases();

}  // namespace rml::ops
