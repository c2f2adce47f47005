// Sample: a small call of an operator that matters (empty, one element, tails of vectors,
// broadcast, large magnitudes). Samples drive conformance, gradient checks, split checks, fuzz
// seeds and benchmarks. Inputs are described, not stored: the same description gives values of
// every dtype.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rml/core/dtype.h"
#include "rml/core/shape.h"
#include "rml/ir/attributes.h"

namespace rml::ir {

struct Fill {
  enum class Kind : uint8_t {
    kNone,      // the optional input is left out
    kNormal,    // low + high * standard normal; integers: rounded
    kUniform,   // in [low, high]; integers: both ends included
    kDistinct,  // a permutation of multiples of `low`: no ties, steps wide enough for differences
    kSorted,    // uniform in [low, high], in ascending order along the last axis
    kValues,    // as listed, repeated to the size
  };
  Kind kind = Kind::kNormal;
  double low = 0;
  double high = 1;
  std::vector<double> values;

  static Fill None() { return {Kind::kNone, 0, 0, {}}; }
  static Fill Normal(double mean = 0, double deviation = 1) {
    return {Kind::kNormal, mean, deviation, {}};
  }
  static Fill Uniform(double low, double high) { return {Kind::kUniform, low, high, {}}; }
  static Fill Distinct(double step = 0.25) { return {Kind::kDistinct, step, 0, {}}; }
  static Fill Sorted(double low, double high) { return {Kind::kSorted, low, high, {}}; }
  static Fill Values(std::vector<double> values) {
    return {Kind::kValues, 0, 0, std::move(values)};
  }
};

struct SampleInput {
  SampleInput(core::Shape input_shape, Fill input_fill = Fill::Normal(),
              std::optional<core::DType> input_dtype = std::nullopt)
      : shape(input_shape), fill(std::move(input_fill)), dtype(input_dtype) {}

  core::Shape shape;
  Fill fill;
  std::optional<core::DType> dtype;  // else what the input's type variable is tested with
};

struct Sample {
  std::vector<SampleInput> inputs;
  AttrList attributes = {};
  // Left out of gradient checks: at a kink, or with values that finite differences cannot resolve.
  bool smooth = true;
  // Left out of --quick, for its size.
  bool large = false;
};

}  // namespace rml::ir
