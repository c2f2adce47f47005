// How Python prints values: str() for output, repr() for what is inside a container.
#pragma once

#include <string>
#include <string_view>

#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

// 1.0, 0.1, 1e+16, inf.
std::string FloatRepr(double number);

// repr(text): the quote that needs no escape, \n, \x00, \u200b …
void AppendStringRepr(std::string_view text, std::string* out);

// str(value) and repr(value), within the limit on strings.
Expected<std::string> ToStr(Runtime& runtime, const Value& value);
Expected<std::string> ToRepr(Runtime& runtime, const Value& value);

}  // namespace rml::text::jinja
