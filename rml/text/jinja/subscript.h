// value.name and value[key] as Jinja resolves them: a dot tries Python's attributes (methods) first
// and then the items, brackets the other way round, and what is not there is an undefined value.
#pragma once

#include <optional>
#include <string_view>

#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

Expected<Value> GetAttribute(Runtime& runtime, const Value& object, std::string_view name);
Expected<Value> GetItem(Runtime& runtime, const Value& object, const Value& key);

// The attribute alone, without falling back to items: the filter | attr.
Expected<Value> GetAttributeOnly(Runtime& runtime, const Value& object, std::string_view name);

// object[start:stop:step]; a missing bound is None.
Expected<Value> GetSlice(Runtime& runtime, const Value& object, const Value& start,
                         const Value& stop, const Value& step);

}  // namespace rml::text::jinja
