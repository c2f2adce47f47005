// One field of a format string, whichever of Python's two languages it was written in, and the
// rendering of a number or a text into it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rml/text/jinja/runtime.h"

namespace rml::text::jinja {

struct FormatSpec {
  std::string fill = " ";
  char align = 0;  // < > ^ = or none given
  char sign = '-';
  bool alternate = false;
  char grouping = 0;  // , or _
  int64_t width = 0;
  int64_t precision = -1;
  char type = 0;
};

// The part after the colon of '{:>8.3f}'.
Expected<FormatSpec> ParseFormatSpec(std::string_view text);

// Each appends to *out within the limit on strings.
Status FormatText(Runtime& runtime, const FormatSpec& spec, std::string_view text,
                  std::string* out);
Status FormatInt(Runtime& runtime, const FormatSpec& spec, int64_t number, std::string* out);
Status FormatFloat(Runtime& runtime, const FormatSpec& spec, double number, std::string* out);

// `number` with `precision` digits after the point, rounded correctly.
std::string FixedDigits(double number, int precision);

}  // namespace rml::text::jinja
