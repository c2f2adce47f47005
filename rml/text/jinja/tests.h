// Jinja's tests: value is name(arguments).
#pragma once

#include <string_view>

#include "rml/text/jinja/object.h"
#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

struct Test {
  std::string_view name;
  Expected<bool> (*body)(Runtime& runtime, const Value& value, const CallArgs& args);
};

// Null when there is no such test.
const Test* FindTest(std::string_view name);

}  // namespace rml::text::jinja
