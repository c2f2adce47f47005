// What elementwise operators share: NumPy's broadcasting of their inputs.
#pragma once

#include <array>

#include "rml/core/strided_loop.h"
#include "rml/ir/axes.h"
#include "rml/ir/op_call.h"
#include "rml/ir/ref_call.h"

namespace rml::ops {

// "shapes [2, 3] and [4, 3] do not broadcast: axis -2 is 2 and 4".
core::Expected<ir::Dims> BroadcastDims(const ir::Dims& a, const ir::Dims& b);
// Of all inputs that are given, from input `first` on.
core::Expected<ir::Dims> BroadcastInputs(const ir::OpCall& call, int first = 0);

// Every axis is free; inputs that are broadcast along it are used whole.
core::Expected<ir::Axes> BroadcastAxes(const ir::OpCall& call);

// For inputs and outputs of one rank: the attribute `axis` is whole, every other axis is free.
core::Expected<ir::Axes> AxesButOne(const ir::OpCall& call);

// Strides of an input of `shape` along the axes of `out`, 0 where it is broadcast.
std::array<int64_t, core::kMaxRank> BroadcastStrides(const core::Shape& shape,
                                                     const core::Shape& out);

// Calls body(output index, index into each of N inputs) for every element of output 0, in order.
template <int N, typename Body>
void ForBroadcast(const ir::RefCall& call, Body&& body) {
  const core::Shape& out = call.out_shape(0);
  std::array<std::array<int64_t, core::kMaxRank>, N> strides;
  std::array<std::span<const int64_t>, N> spans;
  for (int i = 0; i < N; ++i) {
    strides[static_cast<size_t>(i)] = BroadcastStrides(call.in_shape(i), out);
    spans[static_cast<size_t>(i)] = {strides[static_cast<size_t>(i)].data(),
                                     static_cast<size_t>(out.rank())};
  }
  const core::StridedLoop<N> loop(out, spans);
  int64_t at = 0;
  loop.ForEachRow([&](const std::array<int64_t, N>& begin) {
    std::array<int64_t, N> index = begin;
    for (int64_t i = 0; i < loop.row_elements(); ++i) {
      body(at++, index);
      for (size_t k = 0; k < N; ++k) index[k] += loop.row_strides()[k];
    }
  });
}

}  // namespace rml::ops
