#include "rml/random/normal_quantile.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace rml::random {
namespace {

template <int N>
double Horner(const double (&c)[N], double x) {
  double sum = 0;
  for (const double term : c) sum = sum * x + term;
  return sum;
}

}  // namespace

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double NormalQuantile(double p) {
  if (p <= 0) return -std::numeric_limits<double>::infinity();
  if (p >= 1) return std::numeric_limits<double>::infinity();
  constexpr double kA[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                           1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double kB[] = {-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                           6.680131188771972e+01,  -1.328068155288572e+01, 1.0};
  constexpr double kC[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                           -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double kD[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                           3.754408661907416e+00, 1.0};
  constexpr double kTail = 0.02425;
  double x = 0;
  if (p < kTail || p > 1 - kTail) {
    const double q = std::sqrt(-2 * std::log(p < kTail ? p : 1 - p));
    x = Horner(kC, q) / Horner(kD, q);
    if (p > 0.5) x = -x;
  } else {
    const double q = p - 0.5;
    x = q * Horner(kA, q * q) / Horner(kB, q * q);
  }
  const double error = NormalCdf(x) - p;
  const double u = error * std::sqrt(2 * std::numbers::pi) * std::exp(x * x / 2);
  return x - u / (1 + x * u / 2);
}

}  // namespace rml::random
