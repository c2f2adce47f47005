#include "rml/text/jinja/numbers.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {
namespace {

// The text without white space around it and without the underscores that Python allows between
// digits; nothing when one stands elsewhere.
std::optional<std::string> Cleaned(std::string_view text) {
  text = StripRight(StripLeft(text));
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const auto digit = [&](size_t at) {
      return at < text.size() && ((text[at] >= '0' && text[at] <= '9') ||
                                  ((text[at] | 0x20) >= 'a' && (text[at] | 0x20) <= 'z'));
    };
    if (i == 0 || !digit(i - 1) || !digit(i + 1)) return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<int64_t> ParsePythonInt(std::string_view text, int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) return std::nullopt;
  std::optional<std::string> cleaned = Cleaned(text);
  if (!cleaned) return std::nullopt;
  std::string_view digits = *cleaned;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.size() > 2 && digits[0] == '0') {
    const char mark = static_cast<char>(digits[1] | 0x20);
    const int64_t marked = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    if (marked != 0 && (base == 0 || base == marked)) {
      base = marked;
      digits.remove_prefix(2);
    }
  }
  if (base == 0) {
    const bool padded = digits.size() > 1 && digits[0] == '0' &&
                        digits.find_first_not_of('0') != std::string_view::npos;
    if (padded) return std::nullopt;
    base = 10;
  }
  if (digits.empty() || digits[0] == '-') return std::nullopt;
  std::string signed_digits(negative ? 1 : 0, '-');
  signed_digits += digits;
  int64_t number = 0;
  const char* end = signed_digits.data() + signed_digits.size();
  const auto result = std::from_chars(signed_digits.data(), end, number, static_cast<int>(base));
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

std::optional<double> ParsePythonFloat(std::string_view text) {
  std::optional<std::string> cleaned = Cleaned(text);
  if (!cleaned) return std::nullopt;
  std::string_view digits = *cleaned;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty() || digits[0] == '-') return std::nullopt;
  const std::string word = Lower(digits);
  double number = 0;
  if (word == "nan") {
    number = std::numeric_limits<double>::quiet_NaN();
  } else if (word == "inf" || word == "infinity") {
    number = std::numeric_limits<double>::infinity();
  } else {
    if (digits[0] != '.' && (digits[0] < '0' || digits[0] > '9')) return std::nullopt;
    const char* end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, number);
    if (result.ptr != end) return std::nullopt;
    if (result.ec == std::errc::result_out_of_range) {
      // Too large is infinite and too small is zero; the exponent's sign tells which.
      const size_t e = word.find('e');
      const bool tiny = (e != std::string::npos && word[e + 1] == '-') || word.starts_with("0.");
      number = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    } else if (result.ec != std::errc()) {
      return std::nullopt;
    }
  }
  return negative ? -number : number;
}

}  // namespace rml::text::jinja
