#include "rml/text/jinja/subscript.h"

#include <algorithm>

#include "rml/core/strcat.h"
#include "rml/text/jinja/cursor.h"
#include "rml/text/jinja/methods.h"
#include "rml/text/jinja/repr.h"
#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;
using core::StrCat;

// As Jinja's messages call the object.
std::string DescribeType(const Value& object) {
  if (object.is_none()) return "None";
  if (object.is_object()) return object.as_object().qualified_name();
  if (object.is_string() && object.as_string().safe) return "markupsafe.Markup object";
  return StrCat(object.type_name(), " object");
}

Expected<Value> Missing(Runtime& runtime, const Value& object, const Value& key) {
  if (key.is_string()) {
    return Value::Undefined(
        StrCat("'", DescribeType(object), "' has no attribute '", key.text(), "'"));
  }
  RML_ASSIGN(const std::string shown, ToRepr(runtime, key));
  return Value::Undefined(StrCat(DescribeType(object), " has no element ", shown));
}

Value Unsafe(const Value& object, std::string_view name) {
  return Value::Undefined(
      StrCat("access to attribute '", name, "' of '", object.type_name(), "' object is unsafe."));
}

// What Python's getattr finds: methods, and the attributes of objects. The sandbox hides what
// changes a list or a dict, and everything internal.
Expected<std::optional<Value>> FindAttribute(Runtime& runtime, const Value& object,
                                             std::string_view name) {
  if (name.starts_with("__") && name.ends_with("__") && name.size() > 4) {
    if (IsPythonInternal(name)) return std::optional<Value>(Unsafe(object, name));
    return std::optional<Value>();
  }
  if (object.is_object()) return object.as_object().Attribute(runtime, name);
  if (object.kind() == Value::Kind::kTuple && object.as_sequence().type == Sequence::Type::kGroup) {
    if (name == "grouper") return std::optional<Value>(object.items()[0]);
    if (name == "list") return std::optional<Value>(object.items()[1]);
  }
  if (IsMutator(object.kind(), name)) return std::optional<Value>(Unsafe(object, name));
  const Method* method = FindMethod(object.kind(), name);
  if (method == nullptr) return std::optional<Value>();
  RML_ASSIGN(Value bound,
             runtime.MakeObject(std::make_shared<Function>(method->name, method->body, object)));
  return std::optional<Value>(std::move(bound));
}

// object[key] where Python would not raise.
Expected<std::optional<Value>> FindItem(Runtime& runtime, const Value& object, const Value& key) {
  if (object.is_dict()) {
    RML_TRY(runtime.Charge(key.weight()));
    const Value* value = object.as_dict().Find(key);
    return value == nullptr ? std::optional<Value>() : std::optional<Value>(*value);
  }
  if (!key.is_integral()) return std::optional<Value>();
  int64_t index = key.as_int();
  if (object.is_string()) {
    const String& string = object.as_string();
    RML_ASSIGN(const int64_t length, Length(runtime, object));
    if (index < 0) index += length;
    if (index < 0 || index >= length) return std::optional<Value>();
    const size_t at = string.ascii ? static_cast<size_t>(index) : RuneOffset(string.text, index);
    const size_t bytes = DecodeRune(string.text, at).bytes;
    return std::optional<Value>(Value(string.text.substr(at, bytes), string.safe));
  }
  const bool indexable =
      object.kind() == Value::Kind::kList || object.kind() == Value::Kind::kTuple ||
      (object.is_sequence() && object.as_sequence().type == Sequence::Type::kRange);
  if (!indexable) return std::optional<Value>();
  const int64_t length = static_cast<int64_t>(object.items().size());
  if (index < 0) index += length;
  if (index < 0 || index >= length) return std::optional<Value>();
  return std::optional<Value>(object.items()[static_cast<size_t>(index)]);
}

struct SliceRange {
  int64_t start;
  int64_t step;
  int64_t count;
};

// Python's slice.indices().
Expected<SliceRange> ResolveSlice(const Value& start, const Value& stop, const Value& step,
                                  int64_t length) {
  for (const Value* bound : {&start, &stop, &step}) {
    if (!bound->is_none() && !bound->is_integral()) {
      return InvalidArgument("slice indices must be integers or None, not ", bound->type_name());
    }
  }
  const int64_t by = step.is_none() ? 1 : step.as_int();
  if (by == 0) return InvalidArgument("slice step cannot be zero");
  const auto clamp = [&](const Value& bound, int64_t missing) {
    if (bound.is_none()) return missing;
    int64_t at = bound.as_int();
    if (at < 0) at = at < -length ? -1 : at + length;
    if (by > 0) return std::clamp<int64_t>(at, 0, length);
    return std::clamp<int64_t>(at, -1, length - 1);
  };
  const int64_t first = clamp(start, by > 0 ? 0 : length - 1);
  const int64_t last = clamp(stop, by > 0 ? length : -1);
  const int64_t distance = by > 0 ? last - first : first - last;
  if (distance <= 0) return SliceRange{first, by, 0};
  // |by| as unsigned, since -INT64_MIN does not exist.
  const uint64_t stride = by > 0 ? static_cast<uint64_t>(by) : ~static_cast<uint64_t>(by) + 1;
  return SliceRange{first, by,
                    static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride + 1)};
}

Expected<Value> SliceString(Runtime& runtime, const Value& object, const SliceRange& range) {
  const String& string = object.as_string();
  std::string out;
  if (string.ascii) {
    if (range.step == 1) {
      out = string.text.substr(static_cast<size_t>(range.start), static_cast<size_t>(range.count));
    } else {
      for (int64_t i = 0; i < range.count; ++i) out += string.text[range.start + i * range.step];
    }
    return runtime.MakeString(std::move(out), string.safe);
  }
  if (range.step == 1) {
    const std::string_view tail =
        std::string_view(string.text).substr(RuneOffset(string.text, range.start));
    return runtime.MakeString(std::string(tail.substr(0, RuneOffset(tail, range.count))),
                              string.safe);
  }
  std::vector<uint32_t> offsets;
  for (size_t at = 0; at < string.text.size(); at += DecodeRune(string.text, at).bytes) {
    offsets.push_back(static_cast<uint32_t>(at));
  }
  for (int64_t i = 0; i < range.count; ++i) {
    const size_t at = offsets[static_cast<size_t>(range.start + i * range.step)];
    out.append(string.text, at, DecodeRune(string.text, at).bytes);
  }
  return runtime.MakeString(std::move(out), string.safe);
}

}  // namespace

Expected<Value> GetAttribute(Runtime& runtime, const Value& object, std::string_view name) {
  if (object.is_undefined()) return InvalidArgument(object.undefined_message());
  RML_ASSIGN(std::optional<Value> attribute, FindAttribute(runtime, object, name));
  if (attribute) return *std::move(attribute);
  if (object.is_dict()) {
    if (const Value* value = object.as_dict().Find(name)) return *value;
  }
  return Value::Undefined(StrCat("'", DescribeType(object), "' has no attribute '", name, "'"));
}

Expected<Value> GetAttributeOnly(Runtime& runtime, const Value& object, std::string_view name) {
  if (object.is_undefined()) return InvalidArgument(object.undefined_message());
  RML_ASSIGN(std::optional<Value> attribute, FindAttribute(runtime, object, name));
  if (attribute) return *std::move(attribute);
  return Value::Undefined(StrCat("'", DescribeType(object), "' has no attribute '", name, "'"));
}

Expected<Value> GetItem(Runtime& runtime, const Value& object, const Value& key) {
  if (object.is_undefined()) return InvalidArgument(object.undefined_message());
  RML_ASSIGN(std::optional<Value> item, FindItem(runtime, object, key));
  if (item) return *std::move(item);
  if (key.is_string()) {
    RML_ASSIGN(std::optional<Value> attribute, FindAttribute(runtime, object, key.text()));
    if (attribute) return *std::move(attribute);
  }
  return Missing(runtime, object, key);
}

Expected<Value> GetSlice(Runtime& runtime, const Value& object, const Value& start,
                         const Value& stop, const Value& step) {
  if (object.is_undefined()) return InvalidArgument(object.undefined_message());
  const bool sliceable =
      object.is_string() || object.kind() == Value::Kind::kList ||
      object.kind() == Value::Kind::kTuple ||
      (object.is_sequence() && object.as_sequence().type == Sequence::Type::kRange);
  if (!sliceable) {
    return InvalidArgument("'", object.type_name(), "' object cannot be sliced");
  }
  RML_ASSIGN(const int64_t length, Length(runtime, object));
  RML_ASSIGN(const SliceRange range, ResolveSlice(start, stop, step, length));
  if (object.is_string()) {
    RML_TRY(runtime.Charge(object.weight()));
    return SliceString(runtime, object, range);
  }
  Items items;
  items.reserve(static_cast<size_t>(range.count));
  for (int64_t i = 0; i < range.count; ++i) {
    items.push_back(object.items()[static_cast<size_t>(range.start + i * range.step)]);
  }
  RML_TRY(runtime.Charge(range.count));
  return object.kind() == Value::Kind::kTuple ? runtime.MakeTuple(std::move(items))
                                              : runtime.MakeList(std::move(items));
}

}  // namespace rml::text::jinja
