// The order of sort, argsort and searchsorted.
#pragma once

#include <cmath>
#include <type_traits>

namespace rml::ops {

// a before b in ascending order; NaN is the largest, and all are equal.
template <typename T>
bool Less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return a < b;
}

}  // namespace rml::ops
