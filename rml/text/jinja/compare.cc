#include "rml/text/jinja/compare.h"

#include <algorithm>
#include <cmath>

#include "rml/text/jinja/cursor.h"
#include "rml/text/jinja/text_ops.h"

namespace rml::text::jinja {
namespace {

// Exact for a 64-bit integer against a double; NaN is unordered (nullopt).
std::optional<int> CompareNumbers(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) {
    return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int();
  }
  const auto wide = [](const Value& value) {  // 64 bits of mantissa or more
    return value.is_integral() ? static_cast<long double>(value.as_int())
                               : static_cast<long double>(value.as_double());
  };
  if (std::isnan(wide(a)) || std::isnan(wide(b))) return std::nullopt;
  return wide(a) < wide(b) ? -1 : wide(a) > wide(b);
}

bool EqualItems(const Items& a, const Items& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), Equal);
}

bool EqualDicts(const Dict& a, const Dict& b) {
  if (a.size() != b.size()) return false;
  for (const Dict::Entry& entry : a.entries()) {
    const Value* other = b.Find(entry.key);
    if (other == nullptr || !Equal(entry.value, *other)) return false;
  }
  return true;
}

}  // namespace

bool Equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return CompareNumbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Value::Kind::kUndefined:
    case Value::Kind::kNone:
      return true;
    case Value::Kind::kString:
      return &a.as_string() == &b.as_string() || a.text() == b.text();
    case Value::Kind::kList:
    case Value::Kind::kTuple:
    case Value::Kind::kView:
      if (a.SameAs(b)) return true;
      if (a.kind() == Value::Kind::kView && a.as_sequence().type != b.as_sequence().type)
        return false;
      return EqualItems(a.items(), b.items());
    case Value::Kind::kDict:
      return a.SameAs(b) || EqualDicts(a.as_dict(), b.as_dict());
    default:
      return a.SameAs(b);
  }
}

Expected<int> Compare(const Value& a, const Value& b, std::string_view symbol) {
  for (const Value* value : {&a, &b}) {
    if (value->is_undefined()) return core::InvalidArgument(value->undefined_message());
  }
  if (a.is_number() && b.is_number()) {
    // An unordered pair answers no to every question; 2 is neither less, equal nor greater.
    return CompareNumbers(a, b).value_or(2);
  }
  if (a.is_string() && b.is_string()) {
    const int order = a.text().compare(b.text());  // UTF-8 sorts as its code points do
    return order < 0 ? -1 : order > 0;
  }
  const bool sequences =
      a.kind() == b.kind() && (a.kind() == Value::Kind::kList || a.kind() == Value::Kind::kTuple);
  if (sequences) {
    const Items& left = a.items();
    const Items& right = b.items();
    for (size_t i = 0; i < left.size() && i < right.size(); ++i) {
      if (!Equal(left[i], right[i])) return Compare(left[i], right[i], symbol);
    }
    return left.size() < right.size() ? -1 : left.size() > right.size();
  }
  return core::InvalidArgument("'", symbol, "' not supported between instances of '", a.type_name(),
                               "' and '", b.type_name(), "'");
}

Expected<bool> Contains(Runtime& runtime, const Value& haystack, const Value& needle) {
  switch (haystack.kind()) {
    case Value::Kind::kString: {
      if (!needle.is_string()) {
        return core::InvalidArgument("'in <string>' requires string as left operand, not ",
                                     needle.type_name());
      }
      RML_TRY(runtime.Charge(haystack.weight()));
      return FindText(haystack.text(), needle.text()) != std::string_view::npos;
    }
    case Value::Kind::kDict:
      if (!IsHashable(needle)) {
        return core::InvalidArgument("unhashable type: '", needle.type_name(), "'");
      }
      RML_TRY(runtime.Charge(needle.weight()));
      return haystack.as_dict().Find(needle) != nullptr;
    case Value::Kind::kUndefined:
      return false;
    default:
      break;
  }
  if (!IsIterable(haystack)) {
    return core::InvalidArgument("argument of type '", haystack.type_name(), "' is not iterable");
  }
  Cursor cursor(haystack);
  while (true) {
    RML_ASSIGN(const std::optional<Value> item, cursor.Next(runtime));
    if (!item) return false;
    RML_TRY(runtime.Charge(std::min(item->weight(), needle.weight())));
    if (Equal(*item, needle)) return true;
  }
}

}  // namespace rml::text::jinja
