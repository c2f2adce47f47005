// JSON text as Python's json.dumps writes it, and io::Json as values.
#pragma once

#include <optional>
#include <string>

#include "rml/io/json.h"
#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

struct JsonStyle {
  bool ensure_ascii = false;  // Hugging Face's default; json.dumps has true
  std::optional<std::string> indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool sort_keys = false;
};

Expected<std::string> ToJson(Runtime& runtime, const Value& value, const JsonStyle& style);

Value FromJson(const io::Json& json);

}  // namespace rml::text::jinja
