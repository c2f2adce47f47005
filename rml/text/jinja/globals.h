// The functions that every template can call: Jinja's range, dict, namespace, cycler and joiner,
// and Hugging Face's raise_exception and strftime_now.
#pragma once

#include <optional>
#include <string_view>

#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

std::optional<Value> FindGlobal(std::string_view name);

}  // namespace rml::text::jinja
