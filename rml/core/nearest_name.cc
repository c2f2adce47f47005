#include "rml/core/nearest_name.h"

#include <algorithm>
#include <vector>

#include "rml/core/strcat.h"

namespace rml::core {
namespace {

// Optimal string alignment distance (Damerau 1964, without edits of a swapped pair).
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string_view NearestName(std::string_view name, std::span<const std::string_view> known) {
  std::string_view best;
  size_t best_distance = SIZE_MAX;
  for (const std::string_view candidate : known) {
    const size_t distance = Distance(name.substr(0, 64), candidate.substr(0, 64));
    if (distance < best_distance && 3 * distance <= std::max<size_t>(candidate.size(), 3)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view nearest = NearestName(name, known);
  return nearest.empty() ? std::string() : StrCat("; did you mean \"", nearest, "\"?");
}

}  // namespace rml::core
