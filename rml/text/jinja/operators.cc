#include "rml/text/jinja/operators.h"

#include <cmath>

#include "rml/core/checked_math.h"
#include "rml/text/jinja/format.h"
#include "rml/text/jinja/repr.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;

std::string_view Symbol(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return "+";
    case BinaryOp::kSubtract:
      return "-";
    case BinaryOp::kMultiply:
      return "*";
    case BinaryOp::kDivide:
      return "/";
    case BinaryOp::kFloorDivide:
      return "//";
    case BinaryOp::kModulo:
      return "%";
    case BinaryOp::kPower:
      return "** or pow()";
  }
  return "";
}

Status Overflow() {
  return core::Unsupported(
      "an integer does not fit in 64 bits, which is all that rml computes with");
}

Expected<Value> IntPower(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return InvalidArgument("0.0 cannot be raised to a negative power");
    return Value(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && !core::CheckedMul(result, base, &result)) return Overflow();
    exponent >>= 1;
    if (exponent > 0 && !core::CheckedMul(base, base, &base)) return Overflow();
  }
  return Value(result);
}

Expected<Value> IntArithmetic(BinaryOp op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case BinaryOp::kAdd:
      return core::CheckedAdd(a, b, &result) ? Expected<Value>(Value(result)) : Overflow();
    case BinaryOp::kSubtract:
      return !__builtin_sub_overflow(a, b, &result) ? Expected<Value>(Value(result)) : Overflow();
    case BinaryOp::kMultiply:
      return core::CheckedMul(a, b, &result) ? Expected<Value>(Value(result)) : Overflow();
    case BinaryOp::kPower:
      return IntPower(a, b);
    default:
      break;
  }
  if (b == 0) {
    return InvalidArgument(op == BinaryOp::kDivide ? "division by zero"
                                                   : "integer division or modulo by zero");
  }
  if (op == BinaryOp::kDivide) return Value(static_cast<double>(a) / static_cast<double>(b));
  if (b == -1) {  // INT64_MIN / -1 traps
    if (op == BinaryOp::kModulo) return Value(0);
    return a == INT64_MIN ? Expected<Value>(Overflow()) : Value(-a);
  }
  int64_t quotient = a / b;
  int64_t remainder = a % b;
  if (remainder != 0 && (remainder < 0) != (b < 0)) {  // Python rounds down
    --quotient;
    remainder += b;
  }
  return Value(op == BinaryOp::kModulo ? remainder : quotient);
}

Expected<Value> FloatArithmetic(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return Value(a + b);
    case BinaryOp::kSubtract:
      return Value(a - b);
    case BinaryOp::kMultiply:
      return Value(a * b);
    case BinaryOp::kPower: {
      if (a == 0 && b < 0) return InvalidArgument("0.0 cannot be raised to a negative power");
      if (a < 0 && std::isfinite(b) && b != std::floor(b)) {
        return core::Unsupported("a negative number to a fractional power is complex");
      }
      const double result = std::pow(a, b);
      if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) {
        return InvalidArgument("the result of ** is too large");
      }
      return Value(result);
    }
    default:
      break;
  }
  if (b == 0) {
    return InvalidArgument(op == BinaryOp::kDivide        ? "float division by zero"
                           : op == BinaryOp::kFloorDivide ? "float floor division by zero"
                                                          : "float modulo");
  }
  if (op == BinaryOp::kDivide) return Value(a / b);
  double remainder = std::fmod(a, b);
  if (remainder != 0 && (remainder < 0) != (b < 0)) remainder += b;
  if (op == BinaryOp::kModulo) return Value(remainder == 0 ? std::copysign(0.0, b) : remainder);
  if (!std::isfinite(a) || !std::isfinite(b)) return Value(std::floor(a / b));
  // As CPython: from the exact remainder, so that 1 // 0.1 is 9.
  const double quotient = (a - remainder) / b;
  const double floored = std::floor(quotient);
  return Value(quotient - floored > 0.5 ? floored + 1 : floored);
}

// Python's Markup escapes what is added to it.
Expected<Value> Concatenate(Runtime& runtime, const Value& a, const Value& b) {
  const bool safe = a.as_string().safe || b.as_string().safe;
  RML_TRY(runtime.CheckString(a.text().size() + b.text().size()));
  const auto part = [&](const Value& value) {
    return safe && !value.as_string().safe ? EscapeHtml(value.text()) : std::string(value.text());
  };
  std::string text = part(a);
  text += part(b);
  return runtime.MakeString(std::move(text), safe);
}

Expected<Value> RepeatString(Runtime& runtime, const Value& string, int64_t count) {
  const std::string_view text = string.text();
  if (count < 0) count = 0;
  size_t bytes = 0;
  if (!core::CheckedMul(text.size(), static_cast<size_t>(count), &bytes)) bytes = SIZE_MAX;
  RML_TRY(runtime.CheckString(bytes));
  std::string repeated;
  repeated.reserve(bytes);
  while (repeated.size() < bytes) repeated += text;
  return runtime.MakeString(std::move(repeated), string.as_string().safe);
}

Expected<Value> MakeLike(Runtime& runtime, const Value& model, Items items) {
  return model.kind() == Value::Kind::kTuple ? runtime.MakeTuple(std::move(items))
                                             : runtime.MakeList(std::move(items));
}

Expected<Value> RepeatSequence(Runtime& runtime, const Value& sequence, int64_t count) {
  const Items& items = sequence.items();
  if (count < 0 || items.empty()) count = 0;
  if (count != 0 && count > runtime.limits().value_items / sequence.weight()) {
    return core::ResourceExhausted("a ", sequence.type_name(), " holds more than ",
                                   runtime.limits().value_items, " values");
  }
  Items repeated;
  repeated.reserve(items.size() * static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) repeated.insert(repeated.end(), items.begin(), items.end());
  RML_TRY(runtime.Charge(static_cast<int64_t>(repeated.size())));
  return MakeLike(runtime, sequence, std::move(repeated));
}

bool IsRepeatable(const Value& value) {
  return value.is_string() || value.kind() == Value::Kind::kList ||
         value.kind() == Value::Kind::kTuple;
}

Expected<Value> Repeat(Runtime& runtime, const Value& value, int64_t count) {
  return value.is_string() ? RepeatString(runtime, value, count)
                           : RepeatSequence(runtime, value, count);
}

}  // namespace

Expected<Value> ApplyBinary(Runtime& runtime, BinaryOp op, const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) return IntArithmetic(op, a.as_int(), b.as_int());
  if (a.is_number() && b.is_number()) return FloatArithmetic(op, a.as_double(), b.as_double());
  if (op == BinaryOp::kModulo && a.is_string()) return PercentFormat(runtime, a, b);
  for (const Value* value : {&a, &b}) {
    if (value->is_undefined()) return InvalidArgument(value->undefined_message());
  }
  if (op == BinaryOp::kAdd) {
    if (a.is_string() && b.is_string()) return Concatenate(runtime, a, b);
    const bool sequences =
        a.kind() == b.kind() && (a.kind() == Value::Kind::kList || a.kind() == Value::Kind::kTuple);
    if (sequences) {
      RML_TRY(runtime.Charge(static_cast<int64_t>(a.items().size() + b.items().size())));
      Items items = a.items();
      items.insert(items.end(), b.items().begin(), b.items().end());
      return MakeLike(runtime, a, std::move(items));
    }
    if (IsRepeatable(a)) {
      return InvalidArgument("can only concatenate ", a.type_name(), " (not \"", b.type_name(),
                             "\") to ", a.type_name());
    }
  }
  if (op == BinaryOp::kMultiply) {
    if (IsRepeatable(a) && b.is_integral()) return Repeat(runtime, a, b.as_int());
    if (a.is_integral() && IsRepeatable(b)) return Repeat(runtime, b, a.as_int());
  }
  return InvalidArgument("unsupported operand type(s) for ", Symbol(op), ": '", a.type_name(),
                         "' and '", b.type_name(), "'");
}

Expected<Value> Negate(const Value& value) {
  if (value.is_integral()) {
    if (value.as_int() == INT64_MIN) return Overflow();
    return Value(-value.as_int());
  }
  if (value.is_number()) return Value(-value.as_double());
  if (value.is_undefined()) return InvalidArgument(value.undefined_message());
  return InvalidArgument("bad operand type for unary -: '", value.type_name(), "'");
}

Expected<Value> Positive(const Value& value) {
  if (value.is_integral()) return Value(value.as_int());
  if (value.is_number()) return value;
  if (value.is_undefined()) return InvalidArgument(value.undefined_message());
  return InvalidArgument("bad operand type for unary +: '", value.type_name(), "'");
}

std::string EscapeHtml(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace rml::text::jinja
