// What quantize and dequantize share: y = x / scale + zero point, for the whole value, for each
// place of one axis, or for each block of `block_size` places of one axis.
#pragma once

#include "rml/ir/op_call.h"

namespace rml::ops {

inline constexpr ir::DTypeSet kQuantInts = {core::DType::kI8, core::DType::kU8,  core::DType::kI4,
                                            core::DType::kU4, core::DType::kI16, core::DType::kU16};

// The attributes `axis` and `block_size`.
std::vector<ir::AttrDef> QuantAttributes();

// Checks scale and zero point (inputs 1 and 2) against x: scalars, a number for each place of
// `axis`, or with a block size x's dimensions with as many places along `axis` as there are blocks.
core::Status CheckQuant(const ir::OpCall& call);

// All axes are free, but one that is in blocks, and the last one of a 4-bit value, whose pieces
// could share a byte.
core::Expected<ir::Axes> QuantAxes(const ir::OpCall& call, bool packed);

// The smallest and largest number of a kQuantInts dtype.
std::pair<double, double> QuantRange(core::DType dtype);

}  // namespace rml::ops
