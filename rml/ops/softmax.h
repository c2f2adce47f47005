// What softmax and log_softmax share: exponentials along `axis` of x less its largest element.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "rml/ir/ref_call.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {

// Calls body(position, x - the largest of its line, Σ e^… over the line) for every element.
template <typename Body>
core::Status ForExponents(const ir::RefCall& call, Body&& body) {
  const auto x = call.in<double>(0);
  RML_ASSIGN(const int axis, call.call().axis("axis", x.rank()));
  const AxisView view(x.shape(), axis);
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t in = 0; in < view.inner; ++in) {
      double largest = -std::numeric_limits<double>::infinity();
      for (int64_t i = 0; i < view.size; ++i) largest = std::max(largest, x[view.at(o, i, in)]);
      double sum = 0;
      for (int64_t i = 0; i < view.size; ++i) sum += std::exp(x[view.at(o, i, in)] - largest);
      for (int64_t i = 0; i < view.size; ++i) {
        const int64_t at = view.at(o, i, in);
        body(at, x[at] - largest, sum);
      }
    }
  }
  return {};
}

}  // namespace rml::ops
