#include "rml/text/jinja/format_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "rml/text/jinja/repr.h"
#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;

constexpr int64_t kMaxPrecision = 400;  // a double has no digits after that

bool IsAlign(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

bool ReadNumber(std::string_view text, size_t* at, int64_t* number) {
  const auto [end, error] = std::from_chars(text.data() + *at, text.data() + text.size(), *number);
  if (error != std::errc()) return false;
  *at = static_cast<size_t>(end - text.data());
  return true;
}

// Fills up to the width: prefix (sign, 0x) first when the fill belongs after it.
Status Pad(Runtime& runtime, const FormatSpec& spec, char default_align, std::string_view prefix,
           std::string_view body, std::string* out) {
  const char align = spec.align != 0 ? spec.align : default_align;
  const int64_t length = RuneCount(prefix) + RuneCount(body);
  const int64_t missing = std::max<int64_t>(0, spec.width - length);
  if (missing > static_cast<int64_t>(runtime.limits().string_bytes / spec.fill.size())) {
    return core::ResourceExhausted("a field ", spec.width, " wide is longer than the limit of ",
                                   runtime.limits().string_bytes, " bytes");
  }
  RML_TRY(runtime.CheckString(out->size() + prefix.size() + body.size() +
                              static_cast<size_t>(missing) * spec.fill.size()));
  const int64_t before = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  if (align == '=') *out += prefix;
  for (int64_t i = 0; i < before; ++i) *out += spec.fill;
  if (align != '=') *out += prefix;
  *out += body;
  for (int64_t i = before; i < missing; ++i) *out += spec.fill;
  return core::OkStatus();
}

std::string Grouped(std::string_view digits, char separator, size_t group) {
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % group == 0) out += separator;
    out += digits[i];
  }
  return out;
}

std::string SignOf(bool negative, char sign) {
  if (negative) return "-";
  return sign == '+' ? "+" : sign == ' ' ? " " : "";
}

std::string ToChars(double number, std::chars_format format, int precision) {
  std::string buffer(static_cast<size_t>(precision) + 340, '\0');
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, format, precision);
  buffer.resize(static_cast<size_t>(result.ptr - buffer.data()));
  return buffer;
}

std::string UpperAscii(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

// The magnitude of a finite number as %e, %f or %g write it.
std::string Magnitude(double number, char type, int precision, bool alternate) {
  switch (type) {
    case 'e':
      return ToChars(number, std::chars_format::scientific, precision);
    case 'f':
      return ToChars(number, std::chars_format::fixed, precision);
    default: {
      std::string text = ToChars(number, std::chars_format::general, std::max(precision, 1));
      if (alternate && text.find('.') == std::string::npos) text += '.';
      return text;
    }
  }
}

}  // namespace

Expected<FormatSpec> ParseFormatSpec(std::string_view text) {
  FormatSpec spec;
  size_t at = 0;
  const auto take = [&](char c) {
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    return true;
  };
  if (!text.empty()) {
    const size_t fill = DecodeRune(text, 0).bytes;
    if (fill < text.size() && IsAlign(text[fill])) {
      spec.fill = text.substr(0, fill);
      spec.align = text[fill];
      at = fill + 1;
    } else if (IsAlign(text[0])) {
      spec.align = text[0];
      at = 1;
    }
  }
  if (at < text.size() && (text[at] == '+' || text[at] == '-' || text[at] == ' ')) {
    spec.sign = text[at++];
  }
  spec.alternate = take('#');
  if (take('0') && spec.align == 0) {
    spec.fill.assign(1, '0');
    spec.align = '=';
  }
  if (at < text.size() && text[at] >= '0' && text[at] <= '9' &&
      !ReadNumber(text, &at, &spec.width)) {
    return InvalidArgument("the width in the format '", text, "' is too large");
  }
  if (take(',')) spec.grouping = ',';
  if (take('_')) spec.grouping = '_';
  if (take('.') && !ReadNumber(text, &at, &spec.precision)) {
    return InvalidArgument("the format '", text, "' misses its precision");
  }
  if (at < text.size()) spec.type = text[at++];
  if (at != text.size()) return InvalidArgument("invalid format specifier '", text, "'");
  return spec;
}

Status FormatText(Runtime& runtime, const FormatSpec& spec, std::string_view text,
                  std::string* out) {
  if (spec.precision >= 0) text = text.substr(0, RuneOffset(text, spec.precision));
  return Pad(runtime, spec, '<', "", text, out);
}

Status FormatInt(Runtime& runtime, const FormatSpec& spec, int64_t number, std::string* out) {
  const uint64_t magnitude =
      number < 0 ? ~static_cast<uint64_t>(number) + 1 : static_cast<uint64_t>(number);
  int base = 10;
  std::string prefix = SignOf(number < 0, spec.sign);
  switch (spec.type) {
    case 0:
    case 'd':
    case 'n':
      break;
    case 'x':
    case 'X':
      base = 16;
      if (spec.alternate) prefix += spec.type == 'x' ? "0x" : "0X";
      break;
    case 'o':
      base = 8;
      if (spec.alternate) prefix += "0o";
      break;
    case 'b':
      base = 2;
      if (spec.alternate) prefix += "0b";
      break;
    case 'c': {
      if (number < 0 || number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF)) {
        return InvalidArgument("%c wants the code of a character, not ", number);
      }
      std::string rune;
      AppendRune(static_cast<char32_t>(number), &rune);
      return Pad(runtime, spec, '<', "", rune, out);
    }
    default:
      return FormatFloat(runtime, spec, static_cast<double>(number), out);
  }
  char buffer[72];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), magnitude, base);
  std::string digits(buffer, result.ptr);
  if (spec.type == 'X') digits = UpperAscii(std::move(digits));
  // Python's '%.5d' and nothing else gives an integer a precision.
  if (spec.precision > static_cast<int64_t>(digits.size())) {
    const int64_t wanted = std::min(spec.precision, kMaxPrecision);
    digits.insert(0, static_cast<size_t>(wanted) - std::min<size_t>(digits.size(), wanted), '0');
  }
  if (spec.grouping != 0) digits = Grouped(digits, spec.grouping, base == 10 ? 3 : 4);
  return Pad(runtime, spec, '>', prefix, digits, out);
}

Status FormatFloat(Runtime& runtime, const FormatSpec& spec, double number, std::string* out) {
  const char lower = static_cast<char>(spec.type | 0x20);
  if (spec.type != 0 &&
      std::string_view("efg%n").find(lower == '%' ? spec.type : lower) == std::string_view::npos) {
    return InvalidArgument("unknown format code '", spec.type, "' for a number");
  }
  const int precision = static_cast<int>(std::min(spec.precision, kMaxPrecision));
  const double magnitude = std::abs(number);
  std::string body;
  if (!std::isfinite(number)) {
    body = std::isnan(number) ? "nan" : "inf";
  } else if (spec.type == 0) {
    body = precision < 0 ? FloatRepr(magnitude) : Magnitude(magnitude, 'g', precision, false);
    const bool whole = body.find_first_not_of("0123456789") == std::string::npos;
    if (precision >= 0 && whole) body += ".0";
  } else if (spec.type == '%') {
    body = Magnitude(magnitude * 100, 'f', precision < 0 ? 6 : precision, false);
  } else {
    body = Magnitude(magnitude, lower == 'n' ? 'g' : lower, precision < 0 ? 6 : precision,
                     spec.alternate);
  }
  if (spec.type == '%') body += '%';
  if (spec.type >= 'A' && spec.type <= 'Z') body = UpperAscii(std::move(body));
  if (spec.grouping != 0) {
    const size_t whole = std::min(body.find_first_not_of("0123456789"), body.size());
    body = Grouped(std::string_view(body).substr(0, whole), spec.grouping, 3) + body.substr(whole);
  }
  const bool negative = std::signbit(number) && !std::isnan(number);
  return Pad(runtime, spec, '>', SignOf(negative, spec.sign), body, out);
}

std::string FixedDigits(double number, int precision) {
  return ToChars(number, std::chars_format::fixed, precision);
}

}  // namespace rml::text::jinja
