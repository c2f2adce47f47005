// How a function's time grows with its input, for tests that something is not quadratic: a ratio,
// so that it holds on any machine and under any sanitizer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>

namespace rml::core::testing {

// CPU time of run(4 · size) over that of run(size), each the least of three. Linear work gives 4,
// quadratic 16; expect less than kLinear.
template <typename Run>
double TimeGrowth(size_t size, Run&& run) {
  const auto least = [&](size_t n) {
    std::clock_t best = 0;
    for (int i = 0; i < 3; ++i) {
      const std::clock_t start = std::clock();
      run(n);
      const std::clock_t spent = std::clock() - start;
      best = i == 0 ? spent : std::min(best, spent);
    }
    return static_cast<double>(std::max<std::clock_t>(best, 1));
  };
  return least(4 * size) / least(size);
}

inline constexpr double kLinear = 9;

}  // namespace rml::core::testing
