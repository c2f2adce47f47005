#include "rml/kernels/rope.h"

#include <algorithm>
#include <cmath>

#include "rml/core/check.h"

namespace rml::kernels {

namespace {

constexpr double kTwoPi = 2.0 * M_PI;

std::vector<double> PlainFrequencies(int dim, double base) {
  std::vector<double> inverse(static_cast<size_t>(dim / 2));
  for (size_t i = 0; i < inverse.size(); ++i) {
    inverse[i] = std::pow(base, -2.0 * static_cast<double>(i) / dim);
  }
  return inverse;
}

// Wavelengths beyond original_context / low_frequency_factor are stretched by `factor`, those below
// original_context / high_frequency_factor stay, and between the two the change is linear in turns.
void ScaleLlama3(const RopeScaling& s, std::vector<double>& inverse) {
  const auto context = static_cast<double>(s.original_context);
  for (double& frequency : inverse) {
    const double turns = context * frequency / kTwoPi;
    if (turns < s.low_frequency_factor) {
      frequency /= s.factor;
    } else if (turns <= s.high_frequency_factor) {
      const double keep =
          (turns - s.low_frequency_factor) / (s.high_frequency_factor - s.low_frequency_factor);
      frequency = (1.0 - keep) * frequency / s.factor + keep * frequency;
    }
  }
}

// The pair (a real number) that makes `turns` turns over the original context.
double PairOfTurns(double turns, int dim, double base, double context) {
  return dim * std::log(context / (turns * kTwoPi)) / (2.0 * std::log(base));
}

void ScaleYarn(const RopeScaling& s, int dim, double base, std::vector<double>& inverse) {
  const auto context = static_cast<double>(s.original_context);
  const double low = std::max(0.0, std::floor(PairOfTurns(s.beta_fast, dim, base, context)));
  const double high = std::min(dim - 1.0, std::ceil(PairOfTurns(s.beta_slow, dim, base, context)));
  const double width = std::max(0.001, high - low);
  for (size_t i = 0; i < inverse.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / width, 0.0, 1.0);
    inverse[i] = inverse[i] / s.factor * ramp + inverse[i] * (1.0 - ramp);
  }
}

double YarnMagnitude(const RopeScaling& s) {
  const auto grown = [&s](double mscale) {
    return s.factor <= 1.0 ? 1.0 : 0.1 * mscale * std::log(s.factor) + 1.0;
  };
  if (s.attention_factor != 0) return s.attention_factor;
  if (s.mscale != 0 && s.mscale_all_dim != 0) return grown(s.mscale) / grown(s.mscale_all_dim);
  return grown(1.0);
}

double LongRopeMagnitude(const RopeScaling& s) {
  if (s.attention_factor != 0) return s.attention_factor;
  if (s.factor <= 1.0) return 1.0;
  return std::sqrt(1.0 + std::log(s.factor) / std::log(static_cast<double>(s.original_context)));
}

// The base at which the longest wavelength covers the context in use.
double DynamicNtkBase(const RopeScaling& s, int dim, double base) {
  const auto original = static_cast<double>(s.original_context);
  const double context = std::max(static_cast<double>(s.context), original);
  const double stretch = s.factor * context / original - (s.factor - 1.0);
  return base * std::pow(stretch, dim / (dim - 2.0));
}

}  // namespace

RopeFrequencyTable RopeFrequencies(int dim, double base, const RopeScaling& scaling,
                                   std::span<const float> factors) {
  RML_CHECK(dim >= 0 && dim % 2 == 0);
  RopeFrequencyTable table;
  table.inverse = PlainFrequencies(dim, base);
  switch (scaling.kind) {
    case RopeScalingKind::kNone:
      break;
    case RopeScalingKind::kLinear:
      for (double& frequency : table.inverse) frequency /= scaling.factor;
      break;
    case RopeScalingKind::kDynamicNtk:
      if (dim > 2) table.inverse = PlainFrequencies(dim, DynamicNtkBase(scaling, dim, base));
      break;
    case RopeScalingKind::kYarn:
      ScaleYarn(scaling, dim, base, table.inverse);
      table.magnitude = static_cast<float>(YarnMagnitude(scaling));
      break;
    case RopeScalingKind::kLlama3:
      ScaleLlama3(scaling, table.inverse);
      break;
    case RopeScalingKind::kLongRope: {
      const bool is_long = scaling.context > scaling.original_context;
      const std::vector<float>& stretch = is_long ? scaling.long_factors : scaling.short_factors;
      RML_CHECK(stretch.size() == table.inverse.size());
      for (size_t i = 0; i < stretch.size(); ++i) table.inverse[i] /= stretch[i];
      table.magnitude = static_cast<float>(LongRopeMagnitude(scaling));
      break;
    }
  }
  if (!factors.empty()) {
    RML_CHECK(factors.size() == table.inverse.size());
    for (size_t i = 0; i < factors.size(); ++i) table.inverse[i] /= factors[i];
  }
  return table;
}

void RopeAngles(std::span<const int64_t> positions, std::span<const double> inverse,
                float magnitude, float* cos, float* sin) {
  for (const int64_t position : positions) {
    for (const double frequency : inverse) {
      const double angle = static_cast<double>(position) * frequency;
      *cos++ = static_cast<float>(std::cos(angle) * magnitude);
      *sin++ = static_cast<float>(std::sin(angle) * magnitude);
    }
  }
}

void ApplyRopeReference(float* x, int64_t tokens, int64_t heads, int64_t head_dim, int64_t rope_dim,
                        int64_t row_stride, const float* cos, const float* sin, RopeLayout layout) {
  const int64_t pairs = rope_dim / 2;
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t h = 0; h < heads; ++h) {
      float* head = x + t * row_stride + h * head_dim;
      for (int64_t i = 0; i < pairs; ++i) {
        float& a = layout == RopeLayout::kAdjacent ? head[2 * i] : head[i];
        float& b = layout == RopeLayout::kAdjacent ? head[2 * i + 1] : head[i + pairs];
        const double c = cos[t * pairs + i];
        const double s = sin[t * pairs + i];
        const double rotated = a * c - b * s;
        b = static_cast<float>(b * c + a * s);
        a = static_cast<float>(rotated);
      }
    }
  }
}

}  // namespace rml::kernels
