// Python's arithmetic on values: + - * / // % ** and the signs.
#pragma once

#include <string_view>

#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

enum class BinaryOp : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower
};

Expected<Value> ApplyBinary(Runtime& runtime, BinaryOp op, const Value& a, const Value& b);
Expected<Value> Negate(const Value& value);
Expected<Value> Positive(const Value& value);

// The text with & < > ' " as HTML entities.
std::string EscapeHtml(std::string_view text);

}  // namespace rml::text::jinja
