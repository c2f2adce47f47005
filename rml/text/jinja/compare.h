// Python's ==, < and `in`. What walks over whole containers is paid for by the caller through
// Value::weight().
#pragma once

#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

bool Equal(const Value& a, const Value& b);

// -1, 0 or 1; a TypeError for values without an order, which names `symbol` ("<").
Expected<int> Compare(const Value& a, const Value& b, std::string_view symbol = "<");

// needle in haystack.
Expected<bool> Contains(Runtime& runtime, const Value& haystack, const Value& needle);

}  // namespace rml::text::jinja
