// What operators that read or write at indices share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "rml/core/error.h"
#include "rml/ir/axes.h"
#include "rml/ir/op_call.h"
#include "rml/ir/ref_call.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {

// An index of an axis of `size` elements, negative ones counted from the end. "index 7 at [0, 2] is
// outside an axis of 5 elements"; `at` is the index's row-major place in `shape`.
core::Expected<int64_t> CheckIndex(int64_t index, int64_t size, int64_t at,
                                   const core::Shape& shape);

// For x, indices[, updates] with the attribute `axis`: ranks and all other axes are equal.
core::Status CheckAlongAxis(const ir::OpCall& call);
core::Expected<ir::Axes> AlongAxisAxes(const ir::OpCall& call);

// How a scatter brings an update into an element: none (in its place), add, mul, max, min.
core::Status CheckReduceName(std::string_view name);
template <typename T>
T ScatterElement(std::string_view how, T old, T update) {
  if (how == "none") return update;
  if (how == "max") return std::max(old, update);
  if (how == "min") return std::min(old, update);
  if constexpr (std::is_same_v<T, int64_t>)
    return how == "add" ? ir::WrapAdd(old, update) : ir::WrapMul(old, update);
  return static_cast<T>(how == "add" ? old + update : old * update);
}

}  // namespace rml::ops
