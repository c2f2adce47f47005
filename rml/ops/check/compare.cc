#include "rml/ops/check/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rml/ops/shape_math.h"
#include "rml/ops/wide.h"

namespace rml::ops {

using core::Expected;
using core::Tensor;
using ir::RefCall;
using ir::WideType;

double ToleranceFor(const ir::Tolerance& tolerance, core::DType dtype) {
  switch (dtype) {
    case core::DType::kF64:
      return tolerance.f64;
    case core::DType::kF32:
      return tolerance.f32;
    case core::DType::kF16:
      return tolerance.f16;
    case core::DType::kBF16:
      return tolerance.bf16;
    case core::DType::kF8E4M3:
    case core::DType::kF8E5M2:
      return tolerance.f8;
    default:
      return 0;
  }
}

namespace {

std::string Place(int64_t at, const core::Shape& shape) {
  std::string out = "at [";
  const Coordinates coordinates = CoordinatesOf(at, shape);
  for (int axis = 0; axis < shape.rank(); ++axis)
    out += core::StrCat(axis > 0 ? ", " : "", coordinates[static_cast<size_t>(axis)]);
  return out + "]";
}

double AsDouble(const RefCall::Wide& wide, int64_t i) {
  switch (wide.type) {
    case WideType::kFloat:
      return reinterpret_cast<const double*>(wide.words.data())[i];
    case WideType::kSigned:
      return static_cast<double>(reinterpret_cast<const int64_t*>(wide.words.data())[i]);
    case WideType::kUnsigned:
      return static_cast<double>(wide.words[static_cast<size_t>(i)]);
    case WideType::kBool:
      break;
  }
  return reinterpret_cast<const uint8_t*>(wide.words.data())[i] != 0 ? 1 : 0;
}

bool SameBits(const RefCall::Wide& a, const RefCall::Wide& b, int64_t i) {
  if (a.type == WideType::kBool) return AsDouble(a, i) == AsDouble(b, i);
  return a.words[static_cast<size_t>(i)] == b.words[static_cast<size_t>(i)];
}

}  // namespace

Expected<Difference> Compare(const Tensor& actual, const Tensor& expected, double least_size) {
  if (actual.dtype() != expected.dtype() || !(actual.shape() == expected.shape())) {
    return core::InvalidArgument("the result is ", core::Name(actual.dtype()),
                                 actual.shape().ToString(), ", expected ",
                                 core::Name(expected.dtype()), expected.shape().ToString());
  }
  RML_ASSIGN(const RefCall::Wide a, Widen(actual));
  RML_ASSIGN(const RefCall::Wide e, Widen(expected));
  const int64_t count = expected.elements();
  double squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = AsDouble(e, i);
    if (std::isfinite(value)) squares += value * value;
  }
  const double mean_square = count > 0 ? squares / static_cast<double>(count) : 0;
  const double size = std::max(std::sqrt(mean_square), least_size);

  Difference difference;
  for (int64_t i = 0; i < count; ++i) {
    if (SameBits(a, e, i)) continue;
    const double x = AsDouble(a, i);
    const double y = AsDouble(e, i);
    double error = 0;
    if (std::isnan(x) || std::isnan(y)) {
      if (std::isnan(x) && std::isnan(y)) continue;
      error = std::numeric_limits<double>::infinity();
    } else if (x == y) {
      continue;  // zeros of two signs
    } else if (std::isinf(x) || std::isinf(y)) {
      error = std::numeric_limits<double>::infinity();
    } else {
      error = std::abs(x - y) / (std::abs(y) + size);
    }
    if (error > difference.worst) {
      difference.worst = error;
      difference.where = core::StrCat(Place(i, expected.shape()), ": ", x, ", expected ", y);
    }
  }
  return difference;
}

}  // namespace rml::ops
