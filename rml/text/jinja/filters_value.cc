#include <cmath>

#include "rml/text/jinja/args.h"
#include "rml/text/jinja/filters.h"
#include "rml/text/jinja/format_spec.h"
#include "rml/text/jinja/json.h"
#include "rml/text/jinja/numbers.h"
#include "rml/text/jinja/operators.h"
#include "rml/text/jinja/subscript.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;

Expected<Value> Default(Runtime&, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("default", args, {"default_value", "boolean"}));
  const bool missing = value.is_undefined() || (bound.Bool(1, false) && !value.Truthy());
  return missing ? bound.value_or(0, Value("")) : value;
}

Expected<Value> Attr(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("attr", args, {"name"}, 1));
  RML_ASSIGN(const std::string_view name, bound.Text(0, ""));
  return GetAttributeOnly(runtime, value, name);
}

Expected<Value> Abs(Runtime&, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("abs", args, {}));
  if (value.is_undefined()) return InvalidArgument(value.undefined_message());
  if (!value.is_number()) {
    return InvalidArgument("bad operand type for abs(): '", value.type_name(), "'");
  }
  if (!value.is_integral()) return Value(std::abs(value.as_double()));
  return value.as_int() < 0 ? Negate(value) : Positive(value);
}

// The number that a value or its text stands for; nothing when there is none.
std::optional<double> AsDouble(const Value& value) {
  if (value.is_number()) return value.as_double();
  if (value.is_string()) return ParsePythonFloat(value.text());
  return std::nullopt;
}

Expected<Value> Int(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("int", args, {"default", "base"}));
  RML_ASSIGN(const int64_t base, bound.Int(1, 10));
  if (value.is_undefined()) return InvalidArgument(value.undefined_message());
  if (value.is_integral()) return Value(value.as_int());
  RML_TRY(runtime.Charge(value.weight()));
  if (value.is_string()) {
    if (const std::optional<int64_t> number = ParsePythonInt(value.text(), base)) {
      return Value(*number);
    }
  }
  const std::optional<double> number = AsDouble(value);
  if (!number || !std::isfinite(*number)) return bound.value_or(0, Value(0));
  if (std::abs(*number) >= 9.2e18) {
    return core::Unsupported("int() of ", *number, " does not fit in 64 bits");
  }
  return Value(static_cast<int64_t>(*number));
}

Expected<Value> Float(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("float", args, {"default"}));
  if (value.is_undefined()) return InvalidArgument(value.undefined_message());
  RML_TRY(runtime.Charge(value.weight()));
  const std::optional<double> number = AsDouble(value);
  return number ? Value(*number) : bound.value_or(0, Value(0.0));
}

// round(): half to even on the exact value of the double, as Python does.
double RoundDouble(double number, int64_t digits) {
  if (!std::isfinite(number) || digits > 330) return number;
  if (digits < -330) return std::copysign(0.0, number);
  if (digits >= 0) {
    return ParsePythonFloat(FixedDigits(number, static_cast<int>(digits))).value_or(number);
  }
  const double scale = std::pow(10.0, static_cast<double>(-digits));
  return std::nearbyint(number / scale) * scale;
}

Expected<Value> Round(Runtime&, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("round", args, {"precision", "method"}));
  RML_ASSIGN(const int64_t precision, bound.Int(0, 0));
  RML_ASSIGN(const std::string_view method, bound.Text(1, "common"));
  if (value.is_undefined()) return InvalidArgument(value.undefined_message());
  if (!value.is_number()) {
    return InvalidArgument("type ", value.type_name(), " doesn't define __round__ method");
  }
  if (method == "common") {
    if (value.is_integral() && precision >= 0) return Positive(value);
    const double rounded = RoundDouble(value.as_double(), precision);
    if (!value.is_integral()) return Value(rounded);
    if (std::abs(rounded) >= 9.2e18) return InvalidArgument("the rounded integer is too large");
    return Value(static_cast<int64_t>(rounded));
  }
  if (method != "ceil" && method != "floor") {
    return InvalidArgument("round's method must be common, ceil or floor");
  }
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = value.as_double() * scale;
  return Value((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

Expected<Value> ToJsonFilter(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound,
             Bind("tojson", args, {"ensure_ascii", "indent", "separators", "sort_keys"}));
  JsonStyle style;
  style.ensure_ascii = bound.Bool(0, false);
  if (bound.has(1) && !bound[1]->is_none()) {
    if (bound[1]->is_string()) {
      style.indent = std::string(bound[1]->text());
    } else {
      RML_ASSIGN(const int64_t width, bound.Int(1, 0));
      RML_TRY(runtime.CheckString(static_cast<size_t>(std::max<int64_t>(width, 0))));
      style.indent = std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' ');
    }
    style.item_separator.assign(1, ',');
  }
  if (bound.has(2) && !bound[2]->is_none()) {
    const Value& separators = *bound[2];
    const bool pair = separators.is_sequence() && separators.items().size() == 2 &&
                      separators.items()[0].is_string() && separators.items()[1].is_string();
    if (!pair) return InvalidArgument("tojson's separators must be a pair of strings");
    style.item_separator = separators.items()[0].text();
    style.key_separator = separators.items()[1].text();
  }
  style.sort_keys = bound.Bool(3, false);
  RML_ASSIGN(std::string text, ToJson(runtime, value, style));
  return runtime.MakeString(std::move(text));
}

constexpr Filter kValueFilters[] = {
    {"abs", Abs},     {"attr", Attr}, {"d", Default},   {"default", Default},
    {"float", Float}, {"int", Int},   {"round", Round}, {"tojson", ToJsonFilter},
};

}  // namespace

std::span<const Filter> ValueFilters() { return kValueFilters; }

}  // namespace rml::text::jinja
