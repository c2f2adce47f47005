// What quantize and dequantize share: y = x / scale + zero point, for the whole value, for each
// place of one axis, or for each block of `block_size` places of one axis.
#pragma once

#include "rml/ir/op_call.h"

namespace rml::ops {

inline constexpr ir::DTypeSet kQuantInts = {core::DType::kI8, core::DType::kU8,  core::DType::kI4,
                                            core::DType::kU4, core::DType::kI16, core::DType::kU16};

// What quantised values may be: numbers on a grid of equal steps, or small floats.
inline constexpr ir::DTypeSet kQuantTypes = kQuantInts | ir::kFloats8;
inline constexpr ir::DTypeSet kZeroPoints = ir::kInts | ir::kInts4;

// The attributes `axis` and `block_size`.
std::vector<ir::AttrDef> QuantAttributes();

// Checks scale and zero point (inputs 1 and 2) against x: scalars, a number for each place of
// `axis`, or with a block size x's dimensions with as many places along `axis` as there are blocks.
core::Status CheckQuant(const ir::OpCall& call);

// The axes where quantised values are of `dtype`: all are free, but one that is in blocks, and the
// last one of a 4-bit value or zero point, whose pieces could share a byte.
core::Expected<ir::Axes> QuantAxes(const ir::OpCall& call, core::DType dtype);

// The smallest and largest finite number of a kQuantTypes dtype.
std::pair<double, double> QuantRange(core::DType dtype);

// x, or the finite number of this 8-bit float that is nearest where x is beyond all of them.
double SaturateF8(double x, core::DType dtype);

}  // namespace rml::ops
