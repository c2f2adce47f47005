// What gather_nd and scatter_nd share. `indices` are [batch…, i…, k]: each row of k numbers is a
// place on the k axes of x [batch…, k axes…, rest…] behind the batch's, and stands for the slice
// [rest…] there.
#pragma once

#include "rml/ir/axes.h"
#include "rml/ir/op_call.h"
#include "rml/ir/ref_call.h"
#include "rml/ops/indexing.h"

namespace rml::ops {

// [batch…, i…, rest…]: what is read or written. Inputs 0 and 1 are x and indices.
core::Expected<ir::Dims> SlicesDims(const ir::OpCall& call);

// Axes of the batch and of the rest are free; those of the indices only where they are read.
// `slices_input` is the input that SlicesDims describes; -1: the output.
core::Expected<ir::Axes> SlicesAxes(const ir::OpCall& call, int slices_input);

// Calls body(first element in x, first element in the slices, elements) for each row of indices, in
// order. Fails on an index outside its axis.
template <typename Body>
core::Status ForSlices(const ir::RefCall& call, Body&& body) {
  const core::Shape& x = call.in_shape(0);
  const auto indices = call.in<int64_t>(1);
  const core::Shape& rows = indices.shape();
  const auto batch = static_cast<int>(call.call().integer("batch_dims"));
  const auto depth = static_cast<int>(rows.dim(-1));
  int64_t batches = 1;
  for (int i = 0; i < batch; ++i) batches *= x[i];
  int64_t per_batch = 1;
  for (int i = batch; i + 1 < rows.rank(); ++i) per_batch *= rows[i];
  int64_t width = 1;
  for (int i = batch + depth; i < x.rank(); ++i) width *= x[i];
  for (int64_t row = 0; row < batches * per_batch; ++row) {
    int64_t place = row / per_batch;
    for (int i = 0; i < depth; ++i) {
      const int64_t at = row * depth + i;
      RML_ASSIGN(const int64_t index, CheckIndex(indices[at], x[batch + i], at, rows));
      place = place * x[batch + i] + index;
    }
    body(place * width, row * width, width);
  }
  return {};
}

}  // namespace rml::ops
