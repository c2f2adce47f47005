// The searches for a group's scale that the K types need. Weighted least squares, tried over a few
// step sizes; written after the published behaviour of llama.cpp's quantiser, whose choices files
// in the wild were made with.
#pragma once

#include <cstdint>

namespace rml::quant {

// value ≈ scale · code, code in [-half_range, half_range - 1], every element weighing its square.
// Returns the scale (its sign follows the element of largest magnitude); 0 for a group of zeros.
float SearchSymmetricScale(const float* x, int n, int half_range);

// value ≈ scale · code - min, code in [0, max_code], min >= 0.
struct AffineFit {
  float scale;
  float min;
};
struct AffineSearch {
  int max_code;
  float first;  // step sizes tried: range / (max_code + first + i · 0.1), i in [0, steps]
  int steps;
};
AffineFit SearchAffineScale(const float* x, int n, const AffineSearch& search);

// Nearest integer, ties to even; |value| < 2^22.
int NearestInt(float value);

}  // namespace rml::quant
