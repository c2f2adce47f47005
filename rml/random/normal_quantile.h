// The standard normal distribution function and its inverse.
#pragma once

namespace rml::random {

double NormalCdf(double x);
// Acklam's rational approximation, sharpened by one step of Halley's method: full double precision.
double NormalQuantile(double p);  // 0 < p < 1

}  // namespace rml::random
