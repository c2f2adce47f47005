// What the tests of the float kernels share: every ISA level in turn, random inputs, distances.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "rml/kernels/isa.h"

namespace rml::kernels {

// Lengths at and around the widths of vectors and their multiples.
inline constexpr int64_t kTails[] = {1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 257};

// Calls body() once for each level that this machine runs, with that level active.
template <typename Body>
void ForEveryIsa(Body&& body) {
  for (const Isa isa : SupportedIsas()) {
    SCOPED_TRACE(std::string("isa ") + std::string(IsaName(isa)));
    const ScopedIsa scoped(isa);
    body();
  }
}

// A small generator (SplitMix64): tests want the same numbers on every platform.
class TestRandom {
 public:
  explicit TestRandom(uint64_t seed) : state_(seed) {}
  uint64_t Bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // In [-scale, scale).
  float Uniform(float scale = 1.0f) {
    return (static_cast<float>(Bits() >> 40) / 8388608.0f - 1.0f) * scale;
  }
  std::vector<float> Vector(int64_t n, float scale = 1.0f) {
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = Uniform(scale);
    return values;
  }

 private:
  uint64_t state_;
};

// How far `value` is from `exact`, in units of the last place of a float of exact's size.
inline double UlpsFrom(double exact, float value) {
  if (std::isnan(exact) || std::isnan(value))
    return std::isnan(exact) == std::isnan(value) ? 0 : 1e30;
  const auto rounded = static_cast<float>(exact);
  if (std::isinf(rounded) || std::isinf(value)) return rounded == value ? 0 : 1e30;
  const float size = std::fmax(std::fabs(rounded), 1.17549435e-38f);
  const double ulp = std::ldexp(1.0, std::ilogb(size) - 23);
  return std::fabs(static_cast<double>(value) - exact) / ulp;
}

inline std::vector<uint32_t> BitsOf(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

}  // namespace rml::kernels
