// Python's int(text, base) and float(text).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rml::text::jinja {

// Nothing when the text is no number, or when it does not fit.
std::optional<int64_t> ParsePythonInt(std::string_view text, int64_t base);
std::optional<double> ParsePythonFloat(std::string_view text);

}  // namespace rml::text::jinja
