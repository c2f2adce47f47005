// What maximum, minimum and the reductions by them share: NaN is passed on, and of two zeros +0 is
// the larger (IEEE 754's maximum).
#pragma once

#include <cmath>
#include <limits>

#include "rml/ops/elementwise.h"

namespace rml::ops {

template <typename T>
T Larger(T a, T b) {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}

template <typename T>
T Smaller(T a, T b) {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}

// The least (or largest) value of a dtype, infinite for floats, as a reference's wide type.
template <typename T>
T EndOf(core::DType dtype, bool least) {
  if constexpr (std::is_same_v<T, double>) {
    return least ? -std::numeric_limits<double>::infinity()
                 : std::numeric_limits<double>::infinity();
  } else {
    const int unused = 64 - 8 * core::Info(dtype).block_bytes;
    if (least) return std::numeric_limits<T>::min() >> unused;
    return std::numeric_limits<T>::max() >> unused;
  }
}

// Gradients of a choice between a and b: to the one that `wins` over the other (the name of a
// comparison), half to each where they are equal.
ir::Values ExtremeGradients(const ir::ExprCall& call, std::string_view wins);
std::vector<ir::Sample> ExtremeSamples();

// The reductions max (`largest`) and min.
core::Status ReduceExtreme(ir::RefCall& call, bool largest);
ir::Values ReduceExtremeGradient(ir::ExprCall& call);
std::vector<ir::Sample> ReduceExtremeSamples();

// A reduction's gradient, in equal parts to the elements that `hits` says, of the input's shape.
ir::Value ShareAmong(const ir::ExprCall& call, const Emit& e, const ir::Value& hits);

}  // namespace rml::ops
