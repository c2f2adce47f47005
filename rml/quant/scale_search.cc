#include "rml/quant/scale_search.h"

#include <algorithm>
#include <cmath>

#include "rml/core/check.h"

namespace rml::quant {

namespace {

constexpr int kMaxGroup = 32;
constexpr float kAllZero = 1e-15f;

// Sums of the least-squares problem value ≈ scale · code under one choice of step size.
struct SymmetricSums {
  float value_code = 0;
  float code_code = 0;
};

SymmetricSums SumSymmetric(const float* x, int n, int half_range, float inverse_step) {
  SymmetricSums sums;
  for (int i = 0; i < n; ++i) {
    const int code = std::clamp(NearestInt(inverse_step * x[i]), -half_range, half_range - 1);
    const float weight = x[i] * x[i];
    sums.value_code += weight * x[i] * static_cast<float>(code);
    sums.code_code += weight * static_cast<float>(code) * static_cast<float>(code);
  }
  return sums;
}

}  // namespace

int NearestInt(float value) { return static_cast<int>(std::nearbyint(value)); }

float SearchSymmetricScale(const float* x, int n, int half_range) {
  float extreme = 0;
  for (int i = 0; i < n; ++i) {
    if (std::fabs(x[i]) > std::fabs(extreme)) extreme = x[i];
  }
  if (std::fabs(extreme) < kAllZero) return 0;

  float scale = 0;
  float best = 0;  // how much squared error the best scale removes: scale · value_code
  for (const int step : {0, -9, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
    const float range = static_cast<float>(half_range) + 0.1f * static_cast<float>(step);
    const SymmetricSums sums = SumSymmetric(x, n, half_range, -range / extreme);
    const bool better = sums.value_code * sums.value_code > best * sums.code_code;
    if (sums.code_code > 0 && (step == 0 || better)) {
      scale = sums.value_code / sums.code_code;
      best = scale * sums.value_code;
    }
  }
  return scale;
}

AffineFit SearchAffineScale(const float* x, int n, const AffineSearch& search) {
  // Large elements matter more, but small ones are not free: weight |x| + rms(x).
  RML_CHECK(n > 0 && n <= kMaxGroup);
  float weight[kMaxGroup] = {};
  float square_sum = 0;
  for (int i = 0; i < n; ++i) square_sum += x[i] * x[i];
  const float rms = std::sqrt(square_sum / static_cast<float>(n));
  for (int i = 0; i < n; ++i) weight[i] = rms + std::fabs(x[i]);

  float low = x[0];
  float high = x[0];
  float sum_w = weight[0];
  float sum_x = weight[0] * x[0];
  for (int i = 1; i < n; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
    sum_w += weight[i];
    sum_x += weight[i] * x[i];
  }
  low = std::min(low, 0.0f);  // the minimum is stored unsigned, and subtracted
  if (high == low) return {0, -low};

  int code[kMaxGroup];
  const auto encode = [&](float inverse_step) {
    for (int i = 0; i < n; ++i) {
      code[i] = std::clamp(NearestInt(inverse_step * (x[i] - low)), 0, search.max_code);
    }
  };
  const auto error = [&](float scale, float offset) {
    float sum = 0;
    for (int i = 0; i < n; ++i) {
      const float difference = scale * static_cast<float>(code[i]) + offset - x[i];
      sum += weight[i] * (difference * difference);
    }
    return sum;
  };

  // Each improvement moves `low`, and with it the range that later steps divide.
  const float plain_inverse = static_cast<float>(search.max_code) / (high - low);
  encode(plain_inverse);
  float best_scale = 1 / plain_inverse;
  float best_error = error(best_scale, low);

  for (int step = 0; step <= search.steps; ++step) {
    encode((search.first + 0.1f * static_cast<float>(step) + static_cast<float>(search.max_code)) /
           (high - low));
    float sum_l = 0;
    float sum_ll = 0;
    float sum_xl = 0;
    for (int i = 0; i < n; ++i) {
      const float l = static_cast<float>(code[i]);
      sum_l += weight[i] * l;
      sum_ll += weight[i] * l * l;
      sum_xl += weight[i] * l * x[i];
    }
    const float determinant = sum_w * sum_ll - sum_l * sum_l;
    if (!(determinant > 0)) continue;
    float scale = (sum_w * sum_xl - sum_x * sum_l) / determinant;
    float offset = (sum_ll * sum_x - sum_l * sum_xl) / determinant;
    if (offset > 0) {
      offset = 0;
      scale = sum_xl / sum_ll;
    }
    const float this_error = error(scale, offset);
    if (this_error < best_error) {
      best_error = this_error;
      best_scale = scale;
      low = offset;
    }
  }
  return {best_scale, -low};
}

}  // namespace rml::quant
