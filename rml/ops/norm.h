// What normalisations share: axes, statistics and their dtype.
//
// x: [outer…, normalised…], weight and bias: [normalised…], statistics: [outer…, 1…].
#pragma once

#include "rml/ir/op_call.h"
#include "rml/ops/expr.h"

namespace rml::ops {

// Statistics and gradients of narrow floats are computed in f32: sums of squares need it.
core::DType StatType(core::DType dtype);

// The axes from the attribute `axis` on.
ir::Ints NormalisedAxes(const ir::OpCall& call);

// One output of x's type and `statistics` ones. Checks that all other inputs, weights, have the
// dimensions of the normalised axes.
core::Status InferNorm(const ir::OpCall& call, int statistics, ir::Types* outputs);

// The outer axes are free.
core::Expected<ir::Axes> NormAxes(const ir::OpCall& call);

// How many elements share a statistic, as a scalar.
ir::Value NormCount(const Emit& e, const ir::OpCall& call, core::DType dtype);

// The scale and shift of channels, axis 1 of y, where they are given.
ir::Value ScaleChannels(const Emit& e, const ir::Value& y, const ir::Value& weight,
                        const ir::Value& bias);
core::Status CheckChannels(const ir::OpCall& call);  // x, then one number for each channel

}  // namespace rml::ops
