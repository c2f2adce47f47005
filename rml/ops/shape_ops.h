// Forms that operators on shapes share: roles of axes, ranks, numbers as attributes, and copies
// that follow a rule of coordinates.
#pragma once

#include <vector>

#include "rml/ir/axes.h"
#include "rml/ir/op_call.h"
#include "rml/ir/ref_call.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {

// "y would have 9 dimensions, and there are at most 8": to be asked before dimensions are appended.
core::Status CheckRank(int rank);

// A free axis of the name "d<number>", and the number of a piece of one.
ir::NamedAxis FreeAxis(int number, std::vector<int> inputs, std::vector<int> outputs);
int AxisNumber(const ir::AxisPiece& piece);

// Where all inputs and outputs have the axes of input 0: every one is free but those in `whole`.
ir::Axes SameAxes(const ir::OpCall& call, int outputs, std::span<const int64_t> whole);

// The attribute `name`, axes of a value of this rank in the order given, each at most once.
core::Expected<ir::Ints> AxesInOrder(const ir::OpCall& call, std::string_view name, int rank);

// Whether a number of an attribute is one of this dtype: "value 300 is no u8".
core::Status CheckNumber(std::string_view name, double number, core::DType dtype);

// The dtypes of values that are filled with a number.
inline constexpr ir::DTypeSet kFillable = ir::kNumbers | ir::kBools;

// The attribute `k` of operators on a diagonal j - i = k of the last two axes, for a piece of one
// of `rank` axes; saturated, which changes nothing for the places that there are.
int64_t DiagonalOfPiece(const ir::OpCall& call, int rank, const ir::AxisPiece& piece);

// Output 0 from input 0: `source` turns the coordinates of an element of the output into those of
// the input's, or returns false where there is none (the element stays zero).
template <typename Source>
core::Status CopyElements(const ir::RefCall& call, Source&& source) {
  call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    for (int64_t i = 0; i < y.size(); ++i) {
      Coordinates at = CoordinatesOf(i, y.shape());
      if (source(at)) y[i] = x[PositionOf(at, x.shape())];
    }
  });
  return {};
}

// The same elements under other dimensions.
core::Status CopyAll(const ir::RefCall& call);

// i modulo size, never negative.
inline int64_t Wrapped(int64_t i, int64_t size) {
  const int64_t rest = i % size;
  return rest < 0 ? rest + size : rest;
}

}  // namespace rml::ops
