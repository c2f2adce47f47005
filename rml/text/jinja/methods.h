// The methods of Python's str, list, tuple and dict that a template can call.
#pragma once

#include <string_view>

#include "rml/text/jinja/object.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

struct Method {
  std::string_view name;
  Function::Body body;
};

const Method* FindMethod(Value::Kind kind, std::string_view name);
const Method* FindStringMethod(std::string_view name);

// append, pop, update …: the sandbox hides what changes a list or dict.
bool IsMutator(Value::Kind kind, std::string_view name);
// __class__, __init__ …: the names that Python finds on every object and the sandbox hides.
bool IsPythonInternal(std::string_view name);

}  // namespace rml::text::jinja
