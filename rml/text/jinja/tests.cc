#include "rml/text/jinja/tests.h"

#include <algorithm>
#include <iterator>

#include "rml/text/jinja/args.h"
#include "rml/text/jinja/compare.h"
#include "rml/text/jinja/cursor.h"
#include "rml/text/jinja/filters.h"
#include "rml/text/jinja/operators.h"
#include "rml/text/jinja/repr.h"
#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;

// A test without arguments that cannot fail.
template <bool (*kTest)(const Value&)>
Expected<bool> Plain(Runtime&, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("test", args, {}));
  return kTest(value);
}

bool IsDefined(const Value& value) { return !value.is_undefined(); }
bool IsUndefined(const Value& value) { return value.is_undefined(); }
bool IsNone(const Value& value) { return value.is_none(); }
bool IsBoolean(const Value& value) { return value.is_bool(); }
bool IsTrue(const Value& value) { return value.is_bool() && value.as_bool(); }
bool IsFalse(const Value& value) { return value.is_bool() && !value.as_bool(); }
bool IsInteger(const Value& value) { return value.kind() == Value::Kind::kInt; }
bool IsFloat(const Value& value) { return value.kind() == Value::Kind::kFloat; }
bool IsNumber(const Value& value) { return value.is_number(); }
bool IsString(const Value& value) { return value.is_string(); }
bool IsMapping(const Value& value) { return value.is_dict(); }
bool IsEscaped(const Value& value) { return value.is_string() && value.as_string().safe; }

// Whatever has a length and can be indexed; that an undefined value is one is Jinja's doing.
bool IsSequence(const Value& value) {
  if (value.is_sequence()) {
    return value.as_sequence().type <= Sequence::Type::kRange;
  }
  return value.is_string() || value.is_dict() || value.is_undefined();
}

bool IsCallable(const Value& value) {
  return value.is_undefined() || (value.is_object() && value.as_object().is_callable());
}

template <int64_t kRemainder>
Expected<bool> HasParity(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind(kRemainder == 1 ? "odd" : "even", args, {}));
  RML_ASSIGN(const Value rest, ApplyBinary(runtime, BinaryOp::kModulo, value, Value(2)));
  return Equal(rest, Value(kRemainder));
}

Expected<bool> IsDivisible(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("divisibleby", args, {"num"}, 1));
  RML_ASSIGN(const Value rest, ApplyBinary(runtime, BinaryOp::kModulo, value, *bound[0]));
  return Equal(rest, Value(0));
}

enum class Order : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

template <Order kOrder>
Expected<bool> HasOrder(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("comparison", args, {"other"}, 1));
  RML_TRY(runtime.Charge(std::min(value.weight(), bound[0]->weight())));
  if (kOrder == Order::kEqual) return Equal(value, *bound[0]);
  if (kOrder == Order::kNotEqual) return !Equal(value, *bound[0]);
  constexpr std::string_view kSymbols[] = {"==", "!=", "<", "<=", ">", ">="};
  RML_ASSIGN(const int order, Compare(value, *bound[0], kSymbols[static_cast<int>(kOrder)]));
  switch (kOrder) {
    case Order::kLess:
      return order == -1;
    case Order::kLessEqual:
      return order == -1 || order == 0;
    case Order::kGreater:
      return order == 1;
    default:
      return order == 1 || order == 0;
  }
}

Expected<bool> IsIn(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("in", args, {"seq"}, 1));
  return Contains(runtime, *bound[0], value);
}

Expected<bool> IsIterableTest(Runtime&, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("iterable", args, {}));
  return IsIterable(value);
}

Expected<bool> IsSameAs(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("sameas", args, {"other"}, 1));
  RML_TRY(runtime.Charge(value.is_string() ? value.weight() : 1));
  return value.SameAs(*bound[0]);
}

// Python's str.islower() and isupper() of the printed value.
template <bool kUpper>
Expected<bool> HasCase(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind(kUpper ? "upper" : "lower", args, {}));
  RML_ASSIGN(const std::string text, ToStr(runtime, value));
  bool found = false;
  for (size_t at = 0; at < text.size();) {
    const Rune rune = DecodeRune(text, at);
    const bool upper = IsUpper(rune.code);
    const bool lower = IsLower(rune.code);
    if (IsTitle(rune.code) || (kUpper ? lower : upper)) return false;
    found = found || upper || lower;
    at += rune.bytes;
  }
  return found;
}

Expected<bool> IsFilter(Runtime&, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("filter", args, {}));
  return value.is_string() && FindFilter(value.text()) != nullptr;
}

Expected<bool> IsTest(Runtime&, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("test", args, {}));
  return value.is_string() && FindTest(value.text()) != nullptr;
}

constexpr Test kTests[] = {
    {"!=", HasOrder<Order::kNotEqual>},
    {"<", HasOrder<Order::kLess>},
    {"<=", HasOrder<Order::kLessEqual>},
    {"==", HasOrder<Order::kEqual>},
    {">", HasOrder<Order::kGreater>},
    {">=", HasOrder<Order::kGreaterEqual>},
    {"boolean", Plain<IsBoolean>},
    {"callable", Plain<IsCallable>},
    {"defined", Plain<IsDefined>},
    {"divisibleby", IsDivisible},
    {"eq", HasOrder<Order::kEqual>},
    {"equalto", HasOrder<Order::kEqual>},
    {"escaped", Plain<IsEscaped>},
    {"even", HasParity<0>},
    {"false", Plain<IsFalse>},
    {"filter", IsFilter},
    {"float", Plain<IsFloat>},
    {"ge", HasOrder<Order::kGreaterEqual>},
    {"greaterthan", HasOrder<Order::kGreater>},
    {"gt", HasOrder<Order::kGreater>},
    {"in", IsIn},
    {"integer", Plain<IsInteger>},
    {"iterable", IsIterableTest},
    {"le", HasOrder<Order::kLessEqual>},
    {"lessthan", HasOrder<Order::kLess>},
    {"lower", HasCase<false>},
    {"lt", HasOrder<Order::kLess>},
    {"mapping", Plain<IsMapping>},
    {"ne", HasOrder<Order::kNotEqual>},
    {"none", Plain<IsNone>},
    {"number", Plain<IsNumber>},
    {"odd", HasParity<1>},
    {"sameas", IsSameAs},
    {"sequence", Plain<IsSequence>},
    {"string", Plain<IsString>},
    {"test", IsTest},
    {"true", Plain<IsTrue>},
    {"undefined", Plain<IsUndefined>},
    {"upper", HasCase<true>},
};

}  // namespace

const Test* FindTest(std::string_view name) {
  const auto* it = std::lower_bound(
      std::begin(kTests), std::end(kTests), name,
      [](const Test& test, std::string_view wanted) { return test.name < wanted; });
  return it != std::end(kTests) && it->name == name ? it : nullptr;
}

}  // namespace rml::text::jinja
