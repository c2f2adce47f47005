#include "rml/text/jinja/cursor.h"

#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {

bool IsIterable(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kUndefined:
    case Value::Kind::kString:
    case Value::Kind::kList:
    case Value::Kind::kTuple:
    case Value::Kind::kView:
    case Value::Kind::kDict:
      return true;
    case Value::Kind::kObject:
      return value.as_object().is_iterator();
    default:
      return false;
  }
}

Status RequireIterable(const Value& value) {
  if (IsIterable(value)) return core::OkStatus();
  return core::InvalidArgument("'", value.type_name(), "' object is not iterable");
}

Expected<std::optional<Value>> Cursor::Next(Runtime& runtime) {
  RML_TRY(runtime.Charge(1));
  switch (source_.kind()) {
    case Value::Kind::kString: {
      const std::string_view text = source_.text();
      if (at_ == text.size()) break;
      const size_t bytes = DecodeRune(text, at_).bytes;
      at_ += bytes;
      return std::optional<Value>(Value(text.substr(at_ - bytes, bytes)));
    }
    case Value::Kind::kList:
    case Value::Kind::kTuple:
    case Value::Kind::kView:
      if (at_ == source_.items().size()) break;
      return std::optional<Value>(source_.items()[at_++]);
    case Value::Kind::kDict:
      if (at_ == source_.as_dict().size()) break;
      return std::optional<Value>(source_.as_dict().entries()[at_++].key);
    case Value::Kind::kObject:
      return source_.as_object().Next(runtime);
    default:
      break;
  }
  return std::optional<Value>();
}

Expected<Items> ToItems(Runtime& runtime, const Value& value) {
  RML_TRY(RequireIterable(value));
  if (value.is_sequence()) {
    RML_TRY(runtime.Charge(static_cast<int64_t>(value.items().size())));
    return value.items();
  }
  Items items;
  Cursor cursor(value);
  while (true) {
    RML_ASSIGN(std::optional<Value> item, cursor.Next(runtime));
    if (!item) return items;
    if (static_cast<int64_t>(items.size()) >= runtime.limits().value_items) {
      return core::ResourceExhausted("a list holds more than ", runtime.limits().value_items,
                                     " values");
    }
    items.push_back(*std::move(item));
  }
}

Expected<int64_t> Length(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kUndefined:
      return int64_t{0};
    case Value::Kind::kString:
      if (!value.as_string().ascii) RML_TRY(runtime.Charge(value.weight()));
      return value.as_string().ascii ? static_cast<int64_t>(value.text().size())
                                     : RuneCount(value.text());
    case Value::Kind::kList:
    case Value::Kind::kTuple:
    case Value::Kind::kView:
      return static_cast<int64_t>(value.items().size());
    case Value::Kind::kDict:
      return static_cast<int64_t>(value.as_dict().size());
    case Value::Kind::kObject:
      if (const std::optional<int64_t> length = value.as_object().Length()) return *length;
      break;
    default:
      break;
  }
  return core::InvalidArgument("object of type '", value.type_name(), "' has no len()");
}

}  // namespace rml::text::jinja
