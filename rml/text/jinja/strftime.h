// strftime with English names, whatever the process's locale.
#pragma once

#include <string>
#include <string_view>

#include "rml/text/jinja/runtime.h"

namespace rml::text::jinja {

// Directives that need a time zone print nothing; unknown ones are kept as they are.
std::string FormatTime(std::string_view format, const CivilTime& time);

}  // namespace rml::text::jinja
