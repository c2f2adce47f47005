// Eager calls of operators' definitions on small values that other programs can make as well, for
// tests against numbers that those computed.
#pragma once

#include <cmath>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "rml/core/convert.h"
#include "rml/ops/eager.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"

namespace rml::ops::testing {

inline EagerBuilder& Eager() {
  static const core::RunContext context;
  static EagerBuilder eager(context, {&ReferenceProvider()}, BuiltinOps());
  return eager;
}

inline ir::Values Call(std::string_view op, const std::vector<ir::Value>& inputs,
                       const ir::AttrList& attributes = {}) {
  return Emit(Eager()).call(op, inputs, attributes);
}

inline ir::Value Floats(const core::Shape& shape, const std::vector<double>& values) {
  const auto wide = *core::Tensor::FromHost<double>(shape, values, core::Cpu());
  return ir::Value(*core::Convert(wide, core::DType::kF32, core::Cpu()));
}

inline ir::Value Integers(const core::Shape& shape, const std::vector<int64_t>& values) {
  return ir::Value(*core::Tensor::FromHost<int64_t>(shape, values, core::Cpu()));
}

// scale · sin(0.7 · i · (1 + seed / 10) + seed)
inline ir::Value Waves(const core::Shape& shape, double seed, double scale = 1) {
  std::vector<double> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = scale * std::sin(0.7 * static_cast<double>(i) * (1 + 0.1 * seed) + seed);
  return Floats(shape, values);
}

inline std::vector<double> Doubles(const ir::Value& value) {
  const auto wide = *core::Convert(value.tensor(), core::DType::kF64, core::Cpu());
  const auto data = *wide.HostData<double>();
  return {data.begin(), data.end()};
}

inline void ExpectNear(const ir::Value& actual, const std::vector<double>& expected) {
  const std::vector<double> found = Doubles(actual);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 3e-6) << "at " << i;
}

}  // namespace rml::ops::testing
