// Builds a Json from text in one pass. simdjson checks UTF-8 first (at gigabytes a second, for any
// CPU); the grammar is ours, because simdjson neither says where a text is wrong nor accepts the
// integers past 64 bits that Hugging Face writes, and its second tree would double the memory.
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string>

#include "rml/io/json.h"
#include "rml/io/json_object.h"
#include "rml/io/mapped_file.h"
#include "rml/io/utf8.h"

namespace rml::io {

using core::Expected;
using core::OkStatus;
using core::Status;
using core::StrCat;

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Bytes that end a run of plain characters in a string: the quote, the backslash, control
// characters.
constexpr std::array<bool, 256> kEndsRun = [] {
  std::array<bool, 256> table = {};
  for (size_t i = 0; i < 0x20; ++i) table[i] = true;
  table['"'] = table['\\'] = true;
  return table;
}();

}  // namespace

// Recursive descent; the recursion is bounded by JsonLimits::depth. Methods that fail leave the
// message in status_ and return false, which keeps the hot path free of Status objects.
class JsonBuilder {
 public:
  JsonBuilder(std::string_view text, const JsonLimits& limits)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()), limits_(limits) {}

  Expected<Json> Run() {
    const std::string_view text = Rest();
    if (!text.empty() && !simdjson::validate_utf8(text.data(), text.size())) {
      at_ += FindInvalidUtf8(text);
      Fail("the text is not UTF-8");
      return status_;
    }
    if (text.starts_with(kByteOrderMark)) at_ += kByteOrderMark.size();
    Json result;
    SkipSpace();
    if (!Value(0, &result)) return status_;
    SkipSpace();
    if (at_ != end_) {
      Fail("there is text after the value");
      return status_;
    }
    return result;
  }

 private:
  std::string_view Rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }

  void SkipSpace() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }

  bool FailAt(const char* place, std::string_view reason) {
    const auto line = 1 + std::count(begin_, place, '\n');
    status_ =
        core::DataLoss("malformed JSON at line ", line, ", byte ", place - begin_, ": ", reason);
    return false;
  }
  bool Fail(std::string_view reason) {
    return FailAt(at_, at_ == end_ ? std::string_view("the text ends too early") : reason);
  }

  bool Value(int depth, Json* out) {
    if (at_ == end_) return Fail({});
    switch (*at_) {
      case '{':
        return Object(depth, out);
      case '[':
        return Array(depth, out);
      case '"':
        return String(&out->value_.emplace<std::string>());
      case 't':
        return Literal("true", true, out);
      case 'f':
        return Literal("false", false, out);
      case 'n':
        return Literal("null", nullptr, out);
      default:
        return Number(out);
    }
  }

  template <typename T>
  bool Literal(std::string_view word, T value, Json* out) {
    if (!Rest().starts_with(word)) return FailAt(at_, "a value is expected");
    at_ += word.size();
    out->value_ = value;
    return true;
  }

  bool Enter(int depth) {
    if (depth < limits_.depth) return true;
    return Fail(StrCat("arrays and objects are nested deeper than ", limits_.depth));
  }

  // After an item: true to go on with the next, with at_ on it. `*done` when the bracket closed.
  bool Separator(char close, std::string_view expected, bool* done) {
    SkipSpace();
    if (at_ == end_) return Fail({});
    if (*at_ == close) {
      ++at_;
      *done = true;
      return true;
    }
    if (*at_ != ',') return Fail(expected);
    ++at_;
    SkipSpace();
    return true;
  }

  bool Array(int depth, Json* out) {
    if (!Enter(depth)) return false;
    Json::Array& items = out->value_.emplace<Json::Array>();
    ++at_;
    SkipSpace();
    bool done = false;
    if (at_ != end_ && *at_ == ']') {
      ++at_;
      done = true;
    }
    if (!done) items.reserve(2);  // the pairs that tokenizers list by the hundred thousand
    while (!done) {
      if (!Value(depth + 1, &items.emplace_back())) return false;
      if (!Separator(']', "a comma or ] is expected", &done)) return false;
    }
    return true;
  }

  bool Object(int depth, Json* out) {
    if (!Enter(depth)) return false;
    *out = Json::MakeObject();
    auto& members = *std::get<std::unique_ptr<Json::Object, Json::DeleteObject>>(out->value_);
    ++at_;
    SkipSpace();
    bool done = false;
    if (at_ != end_ && *at_ == '}') {
      ++at_;
      done = true;
    }
    while (!done) {
      const char* const key_place = at_;
      if (at_ == end_ || *at_ != '"') return Fail("a key in quotation marks is expected");
      std::string key;
      if (!String(&key)) return false;
      const std::string_view written(key_place, static_cast<size_t>(at_ - key_place));
      SkipSpace();
      if (at_ == end_ || *at_ != ':') return Fail("a colon is expected");
      ++at_;
      SkipSpace();
      Json* const value = members.Add(std::move(key));
      if (value == nullptr) {
        return FailAt(key_place, StrCat("the object already has the key ", written.substr(0, 100)));
      }
      if (!Value(depth + 1, value)) return false;
      if (!Separator('}', "a comma or } is expected", &done)) return false;
    }
    return true;
  }

  bool String(std::string* out) {
    const char* const opened = at_++;
    while (true) {
      const char* const run = at_;
      while (at_ != end_ && !kEndsRun[static_cast<unsigned char>(*at_)]) ++at_;
      out->append(run, at_);
      if (at_ == end_) return FailAt(opened, "this string is not closed");
      if (*at_ == '"') {
        ++at_;
        return true;
      }
      if (*at_ != '\\') return Fail("a control character in a string must be written as an escape");
      if (!Escape(out)) return false;
    }
  }

  bool Escape(std::string* out) {
    const char* const place = at_++;
    if (at_ == end_) return Fail({});
    switch (*at_++) {
      case '"':
        out->push_back('"');
        return true;
      case '\\':
        out->push_back('\\');
        return true;
      case '/':
        out->push_back('/');
        return true;
      case 'b':
        out->push_back('\b');
        return true;
      case 'f':
        out->push_back('\f');
        return true;
      case 'n':
        out->push_back('\n');
        return true;
      case 'r':
        out->push_back('\r');
        return true;
      case 't':
        out->push_back('\t');
        return true;
      case 'u':
        break;
      default:
        return FailAt(place, "there is no such escape");
    }
    uint32_t unit = 0;
    if (!HexDigits(place, &unit)) return false;
    if (unit >= 0xd800 && unit < 0xdc00) {  // the first half of a surrogate pair
      uint32_t second = 0;
      if (!Rest().starts_with("\\u")) return FailAt(place, "a surrogate stands alone");
      at_ += 2;
      if (!HexDigits(place, &second)) return false;
      if (second < 0xdc00 || second >= 0xe000) return FailAt(place, "a surrogate stands alone");
      unit = 0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00);
    } else if (unit >= 0xdc00 && unit < 0xe000) {
      return FailAt(place, "a surrogate stands alone");
    }
    AppendUtf8(unit, out);
    return true;
  }

  bool HexDigits(const char* place, uint32_t* unit) {
    if (end_ - at_ < 4) return FailAt(place, "\\u needs four hexadecimal digits");
    const auto parsed = std::from_chars(at_, at_ + 4, *unit, 16);
    if (parsed.ptr != at_ + 4) return FailAt(place, "\\u needs four hexadecimal digits");
    at_ += 4;
    return true;
  }

  size_t Digits() {
    const char* const first = at_;
    while (at_ != end_ && IsDigit(*at_)) ++at_;
    return static_cast<size_t>(at_ - first);
  }

  bool Number(Json* out) {
    const char* const first = at_;
    const bool negative = *at_ == '-';
    if (negative) ++at_;
    if (at_ == end_ || !IsDigit(*at_)) return Fail("a value is expected");
    const bool leading_zero = *at_ == '0';
    if (Digits() > 1 && leading_zero)
      return FailAt(first, "a number starts with a superfluous zero");
    bool integer = true;
    if (at_ != end_ && *at_ == '.') {
      integer = false;
      ++at_;
      if (Digits() == 0) return Fail("a digit is expected after the decimal point");
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      integer = false;
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (Digits() == 0) return Fail("a digit is expected in the exponent");
    }
    // -0 is a double: an integer would lose the sign.
    if (integer && !(negative && leading_zero)) {
      int64_t value = 0;
      if (std::from_chars(first, at_, value).ec == std::errc()) {
        out->value_ = value;
        return true;
      }
    }
    double value = 0;
    if (std::from_chars(first, at_, value).ec == std::errc::result_out_of_range) {
      // Too small means zero or a subnormal; too large is refused. strtod tells them apart.
      value = std::strtod(std::string(first, at_).c_str(), nullptr);
      if (value > 1 || value < -1) return FailAt(first, "this number is too large for a double");
    }
    out->value_ = value;
    return true;
  }

  const char* const begin_;
  const char* at_;
  const char* const end_;
  const JsonLimits limits_;
  Status status_;
};

Expected<Json> Json::Parse(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return core::ResourceExhausted("a JSON text of ", text.size(),
                                   " bytes is longer than the limit of ", limits.bytes);
  }
  return JsonBuilder(text, limits).Run();
}

Expected<Json> Json::ParseFile(std::string_view path, const JsonLimits& limits) {
  RML_ASSIGN(const std::string text, ReadTextFile(path, limits.bytes));
  auto result = Parse(text, limits);
  if (!result.ok()) return result.status().WithContext(path);
  return result;
}

}  // namespace rml::io
