#include "rml/core/format_bytes.h"

#include <array>
#include <charconv>
#include <string_view>

#include "rml/core/strcat.h"

namespace rml::core {

std::string FormatBytes(int64_t bytes) {
  constexpr std::array<std::string_view, 7> kUnits = {"B",   "KiB", "MiB", "GiB",
                                                      "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  // 1023.95 would print as 1024.0: such a value already belongs to the next unit.
  while ((value >= 1023.95 || value <= -1023.95) && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return StrCat(bytes, " B");
  const int decimals = value < 9.995 && value > -9.995 ? 2 : 1;
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::fixed, decimals);
  return StrCat(std::string_view(digits, static_cast<size_t>(end.ptr - digits)), " ", kUnits[unit]);
}

}  // namespace rml::core
