// Parser: template text → tree. Depth of nesting is limited.
#pragma once

#include <string_view>

#include "rml/text/jinja/ast.h"
#include "rml/text/jinja/limits.h"

namespace rml::text::jinja {

Expected<Body> ParseTemplate(std::string_view source, const Limits& limits);

}  // namespace rml::text::jinja
