#include "rml/text/jinja/object.h"

#include <algorithm>

#include "rml/core/strcat.h"

namespace rml::text::jinja {

using core::StrCat;

std::string Object::Describe() const { return StrCat("<", type_name(), ">"); }

std::string Object::qualified_name() const { return StrCat(type_name(), " object"); }

Expected<std::optional<Value>> Object::Attribute(Runtime&, std::string_view) {
  return std::optional<Value>();
}

Expected<Value> Object::Call(Runtime&, const CallArgs&) {
  return core::InvalidArgument("'", type_name(), "' object is not callable");
}

Expected<std::optional<Value>> Object::Next(Runtime&) {
  return core::InvalidArgument("'", type_name(), "' object is not iterable");
}

void Object::Keeps(const Value& value) { depth_ = std::max(depth_, value.depth() + 1); }

Expected<std::optional<Value>> Namespace::Attribute(Runtime&, std::string_view name) {
  const Value* value = attributes_.Find(name);
  return value == nullptr ? std::optional<Value>() : std::optional<Value>(*value);
}

std::string Function::Describe() const {
  return StrCat("<built-in ", self_.is_none() ? "function " : "method ", name_, ">");
}

}  // namespace rml::text::jinja
