// Walking over a value as Python's iter() does: items of a sequence, characters of a string, keys
// of a dict, what a generator yields, nothing for an undefined value.
#pragma once

#include <optional>

#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

bool IsIterable(const Value& value);
// "'int' object is not iterable", unless it is.
Status RequireIterable(const Value& value);

class Cursor {
 public:
  // The value must be iterable.
  explicit Cursor(Value source) : source_(std::move(source)) {}

  Expected<std::optional<Value>> Next(Runtime& runtime);

 private:
  Value source_;
  size_t at_ = 0;
};

// list(value).
Expected<Items> ToItems(Runtime& runtime, const Value& value);

// len(value); a TypeError for what has none.
Expected<int64_t> Length(Runtime& runtime, const Value& value);

}  // namespace rml::text::jinja
