#include "rml/random/stream.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "rml/core/check.h"
#include "rml/random/normal_quantile.h"

namespace rml::random {

uint64_t Stream::Below(uint64_t bound, uint64_t i, uint32_t d) const {
  RML_CHECK(bound > 0);
  // Lemire 2019: the high half of bits · bound, rejecting the few low halves that would be too
  // many.
  const uint64_t excess = (0 - bound) % bound;
  for (;; ++d) {
    const unsigned __int128 product = static_cast<unsigned __int128>(Bits64(i, d)) * bound;
    if (static_cast<uint64_t>(product) >= excess) return static_cast<uint64_t>(product >> 64);
  }
}

double Stream::Normal(uint64_t i, uint32_t d) const {
  const PhiloxBlock block = Block(i, d);
  const uint64_t a = block[0] | uint64_t{block[1]} << 32;
  const uint64_t b = block[2] | uint64_t{block[3]} << 32;
  const double u = (static_cast<double>(a >> 11) + 0.5) * 0x1p-53;
  const double v = static_cast<double>(b >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

double Stream::TruncatedNormal(double low, double high, uint64_t i, uint32_t d) const {
  // By the inverse of the distribution function, on the side where the tail keeps its precision.
  if (low > 0) return -TruncatedNormal(-high, -low, i, d);
  const double from = NormalCdf(low);
  const double to = NormalCdf(high);
  return std::clamp(NormalQuantile(from + (to - from) * OpenUniform(i, d)), low, high);
}

double Stream::Exponential(uint64_t i, uint32_t d) const { return -std::log(OpenUniform(i, d)); }

double Stream::Gumbel(uint64_t i, uint32_t d) const {
  return -std::log(-std::log(OpenUniform(i, d)));
}

double Stream::Gamma(double shape, uint64_t i, uint32_t d) const {
  if (shape < 1) {
    // Gamma(a) = Gamma(a + 1) · U^(1/a)
    return Gamma(shape + 1, i, d + 1) * std::pow(OpenUniform(i, d), 1 / shape);
  }
  const double third = shape - 1.0 / 3;
  const double scale = 1 / std::sqrt(9 * third);
  for (;; d += 2) {
    const double x = Normal(i, d);
    const double v = std::pow(1 + scale * x, 3);
    if (v <= 0) continue;
    const double u = OpenUniform(i, d + 1);
    if (std::log(u) < 0.5 * x * x + third - third * v + third * std::log(v)) return third * v;
  }
}

double Stream::Beta(double a, double b, uint64_t i) const {
  constexpr uint32_t kSecond = uint32_t{1} << 31;  // far from the draws of the first
  const double x = Gamma(a, i);
  const double y = Gamma(b, i, kSecond);
  return x + y > 0 ? x / (x + y) : (Uniform(i, kSecond - 1) < a / (a + b) ? 1 : 0);
}

int64_t Stream::Poisson(double mean, uint64_t i) const {
  if (mean <= 0) return 0;
  if (mean < 10) {
    const double limit = std::exp(-mean);
    double product = 1;
    for (uint32_t d = 0;; ++d) {
      product *= Uniform(i, d);
      if (product <= limit) return d;
    }
  }
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  for (uint32_t d = 0;; d += 2) {
    const double u = Uniform(i, d) - 0.5;
    const double v = OpenUniform(i, d + 1);
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return static_cast<int64_t>(k);
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <=
        k * std::log(mean) - mean - std::lgamma(k + 1))
      return static_cast<int64_t>(k);
  }
}

}  // namespace rml::random
