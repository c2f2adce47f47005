#include "rml/text/jinja/lexer.h"

#include <algorithm>
#include <charconv>

#include "rml/core/strcat.h"
#include "rml/text/jinja/numbers.h"
#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {
namespace {

using core::Expected;
using core::InvalidArgument;
using core::Status;
using core::StrCat;

// As Jinja: every kind of line break becomes "\n", and the last one goes.
std::string NormalizeLines(std::string_view source, bool drop_last) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
      continue;
    }
    out += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (drop_last && out.ends_with('\n')) out.pop_back();
  return out;
}

size_t SkipSpace(std::string_view text, size_t at) {
  while (at < text.size()) {
    const Rune rune = DecodeRune(text, at);
    if (!IsSpace(rune.code)) break;
    at += rune.bytes;
  }
  return at;
}

bool IsNameRune(char32_t code) {
  return code < 0x80 ? IsWord(code) : IsWord(code) && code != 0xFFFD;
}

bool IsDigitChar(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : text_(NormalizeLines(source, true)) {}

  Expected<std::vector<Token>> Run() {
    bool line_starting = true;  // whether what comes next opens a line
    while (at_ < text_.size()) {
      const size_t tag = FindTag(at_);
      if (tag == std::string::npos) {
        AddData(std::string_view(text_).substr(at_), at_);
        at_ = text_.size();
        break;
      }
      RML_TRY(LexTag(tag, line_starting));
      line_starting = at_ > 0 && text_[at_ - 1] == '\n';
    }
    Add(Token::Kind::kEnd, at_);
    return std::move(tokens_);
  }

 private:
  size_t FindTag(size_t from) const {
    for (size_t at = from; (at = text_.find('{', at)) != std::string::npos; ++at) {
      if (at + 1 < text_.size() &&
          (text_[at + 1] == '%' || text_[at + 1] == '{' || text_[at + 1] == '#')) {
        return at;
      }
    }
    return std::string::npos;
  }

  Status LexTag(size_t tag, bool line_starting) {
    const char type = text_[tag + 1];
    char sign = 0;
    size_t inside = tag + 2;
    if (inside < text_.size() && (text_[inside] == '-' || text_[inside] == '+')) {
      sign = text_[inside++];
    }
    AddData(TextBefore(tag, type, sign, line_starting), at_);
    if (type == '#') return SkipComment(tag, inside);
    if (type == '%') {
      size_t raw_end = 0;
      if (IsRawTag(inside, &raw_end)) return LexRaw(tag, raw_end);
      Add(Token::Kind::kBlockBegin, tag);
    } else {
      Add(Token::Kind::kVariableBegin, tag);
    }
    at_ = inside;
    return LexExpression(tag, type == '{');
  }

  // The text from at_ up to a tag, after what the tag's sign and lstrip_blocks take from its end.
  std::string_view TextBefore(size_t tag, char type, char sign, bool line_starting) const {
    const std::string_view data = std::string_view(text_).substr(at_, tag - at_);
    if (sign == '-') return StripRight(data);
    if (sign == '+' || type == '{') return data;
    const size_t line = data.rfind('\n') + 1;  // npos + 1 is 0
    if (line == 0 && !line_starting) return data;
    return SkipSpace(data, line) == data.size() ? data.substr(0, line) : data;
  }

  // Moves past "-%}" with the white space after it, "+%}", or "%}" with one line break.
  bool TakeEnd(size_t* at, char mark, bool trims) const {
    const std::string_view rest = std::string_view(text_).substr(*at);
    if (rest.size() >= 3 && rest[0] == '-' && rest[1] == mark && rest[2] == '}') {
      *at = SkipSpace(text_, *at + 3);
      return true;
    }
    if (trims && rest.size() >= 3 && rest[0] == '+' && rest[1] == mark && rest[2] == '}') {
      *at += 3;
      return true;
    }
    if (rest.size() >= 2 && rest[0] == mark && rest[1] == '}') {
      *at += 2;
      if (trims && *at < text_.size() && text_[*at] == '\n') ++*at;
      return true;
    }
    return false;
  }

  Status SkipComment(size_t tag, size_t inside) {
    for (size_t at = inside; at < text_.size(); ++at) {
      if (TakeEnd(&at, '#', true)) {
        at_ = at;
        return core::OkStatus();
      }
    }
    return Error(tag, "missing end of comment tag");
  }

  // raw directly after the tag's sign, and nothing else in the tag.
  bool IsRawTag(size_t inside, size_t* end) const {
    size_t at = SkipSpace(text_, inside);
    if (text_.compare(at, 3, "raw") != 0) return false;
    at = SkipSpace(text_, at + 3);
    if (text_.compare(at, 3, "-%}") == 0) {
      *end = SkipSpace(text_, at + 3);
      return true;
    }
    *end = at + 2;
    return text_.compare(at, 2, "%}") == 0;
  }

  Status LexRaw(size_t tag, size_t begin) {
    for (size_t at = begin; (at = text_.find("{%", at)) != std::string::npos; ++at) {
      size_t inside = at + 2;
      char sign = 0;
      if (inside < text_.size() && (text_[inside] == '-' || text_[inside] == '+')) {
        sign = text_[inside++];
      }
      inside = SkipSpace(text_, inside);
      if (text_.compare(inside, 6, "endraw") != 0) continue;
      inside = SkipSpace(text_, inside + 6);
      if (!TakeEnd(&inside, '%', true)) continue;
      const bool line_starting = text_[begin - 1] == '\n';
      at_ = begin;
      AddData(TextBefore(at, '%', sign, line_starting), begin);
      at_ = inside;
      return core::OkStatus();
    }
    return Error(tag, "missing end of raw directive");
  }

  Status LexExpression(size_t tag, bool variable) {
    std::string open;  // brackets that wait for their partner
    while (true) {
      at_ = SkipSpace(text_, at_);
      if (at_ == text_.size()) return Error(tag, "the tag that begins here has no end");
      const size_t start = at_;
      if (open.empty() && TakeEnd(&at_, variable ? '}' : '%', !variable)) {
        Add(variable ? Token::Kind::kVariableEnd : Token::Kind::kBlockEnd, start);
        return core::OkStatus();
      }
      const char c = text_[at_];
      if (IsDigitChar(c)) {
        RML_TRY(LexNumber());
      } else if (c == '\'' || c == '"') {
        RML_TRY(LexString(c));
      } else if (IsNameRune(DecodeRune(text_, at_).code)) {
        while (at_ < text_.size() && IsNameRune(DecodeRune(text_, at_).code)) {
          at_ += DecodeRune(text_, at_).bytes;
        }
        Add(Token::Kind::kName, start).text = text_.substr(start, at_ - start);
      } else {
        RML_TRY(LexOperator(&open));
      }
    }
  }

  Status LexOperator(std::string* open) {
    constexpr std::string_view kPairs[] = {"//", "**", "==", "!=", ">=", "<="};
    constexpr std::string_view kSingles = "+-/*%~[](){}><=.:|,;";
    const size_t start = at_;
    std::string_view symbol = std::string_view(text_).substr(at_, 2);
    if (std::find(std::begin(kPairs), std::end(kPairs), symbol) == std::end(kPairs)) {
      symbol = symbol.substr(0, 1);
      if (kSingles.find(symbol[0]) == std::string_view::npos) {
        return Error(
            start, StrCat("unexpected character '",
                          std::string_view(text_).substr(at_, DecodeRune(text_, at_).bytes), "'"));
      }
    }
    switch (symbol[0]) {
      case '(':
        *open += ')';
        break;
      case '[':
        *open += ']';
        break;
      case '{':
        *open += '}';
        break;
      case ')':
      case ']':
      case '}':
        if (open->empty()) return Error(start, StrCat("unexpected '", symbol, "'"));
        if (open->back() != symbol[0]) {
          return Error(start, StrCat("unexpected '", symbol, "', expected '", open->back(), "'"));
        }
        open->pop_back();
        break;
      default:
        break;
    }
    at_ += symbol.size();
    Add(Token::Kind::kOperator, start).text = symbol;
    return core::OkStatus();
  }

  // Digits with single underscores between them; returns their end.
  size_t SkipDigits(size_t at) const {
    while (at < text_.size() &&
           (IsDigitChar(text_[at]) ||
            (text_[at] == '_' && at + 1 < text_.size() && IsDigitChar(text_[at + 1])))) {
      ++at;
    }
    return at;
  }

  Status LexNumber() {
    const size_t start = at_;
    const auto peek = [&](size_t at) { return at < text_.size() ? text_[at] : '\0'; };
    const char mark = static_cast<char>(peek(at_ + 1) | 0x20);
    if (text_[at_] == '0' && (mark == 'x' || mark == 'o' || mark == 'b')) return LexBased(mark);

    size_t end = SkipDigits(at_);
    bool is_float = false;
    // "1.real" and "x.0.y" are not floats: a fraction needs a digit and no dot before the number.
    const bool after_dot = start > 0 && text_[start - 1] == '.';
    if (!after_dot && peek(end) == '.' && IsDigitChar(peek(end + 1))) {
      is_float = true;
      end = SkipDigits(end + 1);
    }
    if (!after_dot && (peek(end) | 0x20) == 'e') {
      const size_t digits = end + 1 + (peek(end + 1) == '+' || peek(end + 1) == '-' ? 1 : 0);
      if (IsDigitChar(peek(digits))) {
        is_float = true;
        end = SkipDigits(digits);
      }
    }
    std::string digits;
    for (size_t i = start; i < end; ++i) {
      if (text_[i] != '_') digits += text_[i];
    }
    at_ = end;
    if (is_float) {
      Add(Token::Kind::kFloat, start).number = ParsePythonFloat(digits).value_or(0);
      return core::OkStatus();
    }
    if (digits.size() > 1 && digits[0] == '0' &&
        digits.find_first_not_of('0') != std::string::npos) {
      return Error(start, "an integer must not begin with 0");
    }
    const char* last = digits.data() + digits.size();
    if (std::from_chars(digits.data(), last, Add(Token::Kind::kInteger, start).integer).ec !=
        std::errc()) {
      return Error(start, StrCat("the integer ", digits, " does not fit in 64 bits"));
    }
    return core::OkStatus();
  }

  // 0x1F, 0o17, 0b11
  Status LexBased(char mark) {
    const size_t start = at_;
    const int base = mark == 'x' ? 16 : mark == 'o' ? 8 : 2;
    std::string digits;
    for (at_ += 2; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (IsDigitChar(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')) {
        digits += c;
      } else if (c != '_') {
        break;
      }
    }
    const char* end = digits.data() + digits.size();
    const auto result =
        std::from_chars(digits.data(), end, Add(Token::Kind::kInteger, start).integer, base);
    if (result.ec != std::errc() || result.ptr != end) {
      return Error(start, "this is no integer that fits in 64 bits");
    }
    return core::OkStatus();
  }

  Status LexString(char quote) {
    const size_t start = at_;
    std::string value;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        Add(Token::Kind::kString, start).text = std::move(value);
        return core::OkStatus();
      }
      if (text_[at_] == '\\') {
        RML_TRY(LexEscape(&value));
      } else {
        value += text_[at_];
      }
    }
    return Error(start, "the string that begins here has no end");
  }

  // Python's escapes, at_ being on the backslash and left on the last character of the escape.
  Status LexEscape(std::string* value) {
    const size_t start = at_;
    if (++at_ == text_.size()) return Error(start, "the template ends inside an escape");
    const char c = text_[at_];
    constexpr std::string_view kNames = "abfnrtv\\'\"";
    constexpr std::string_view kCodes = "\a\b\f\n\r\t\v\\'\"";
    if (const size_t i = kNames.find(c); i != std::string_view::npos) {
      *value += kCodes[i];
      return core::OkStatus();
    }
    if (c == '\n') return core::OkStatus();
    if (c >= '0' && c <= '7') {
      uint32_t code = 0;
      size_t digits = 0;
      for (; digits < 3 && at_ + digits < text_.size(); ++digits) {
        const char d = text_[at_ + digits];
        if (d < '0' || d > '7') break;
        code = code * 8 + static_cast<uint32_t>(d - '0');
      }
      at_ += digits - 1;
      AppendRune(code, value);
      return core::OkStatus();
    }
    const size_t length = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (length == 0) {
      if (c == 'N') return Error(start, "\\N{...} escapes are not supported; write the character");
      *value += '\\';  // an unknown escape is kept as it is
      --at_;
      return core::OkStatus();
    }
    uint32_t code = 0;
    const char* first = text_.data() + std::min(at_ + 1, text_.size());
    const char* last = text_.data() + std::min(at_ + 1 + length, text_.size());
    const auto result = std::from_chars(first, last, code, 16);
    if (result.ptr != first + length || result.ec != std::errc()) {
      return Error(start, StrCat("\\", c, " wants ", length, " hexadecimal digits"));
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
      return Error(start, "the escape is no Unicode character");
    }
    AppendRune(code, value);
    at_ += length;
    return core::OkStatus();
  }

  void AddData(std::string_view data, size_t start) {
    if (!data.empty()) Add(Token::Kind::kData, start).text = data;
  }

  Token& Add(Token::Kind kind, size_t start) {
    tokens_.push_back({kind, PositionOf(start), {}, 0, 0});
    return tokens_.back();
  }

  // Offsets mostly come in order, so that counting goes on from the last one.
  Position PositionOf(size_t offset) {
    if (offset < counted_) {
      counted_ = 0;
      position_ = {};
    }
    for (; counted_ < offset; ++counted_) {
      if (text_[counted_] == '\n') {
        ++position_.line;
        position_.column = 1;
      } else if ((static_cast<unsigned char>(text_[counted_]) & 0xC0) != 0x80) {
        ++position_.column;
      }
    }
    return position_;
  }

  Status Error(size_t offset, std::string_view message) {
    return InvalidArgument(DescribePosition(PositionOf(offset)), message);
  }

  std::string text_;
  size_t at_ = 0;
  size_t counted_ = 0;
  Position position_;
  std::vector<Token> tokens_;
};

}  // namespace

std::string DescribePosition(Position at) {
  return StrCat("line ", at.line, ", column ", at.column, ": ");
}

std::string DescribeToken(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kData:
      return "text";
    case Token::Kind::kBlockBegin:
      return "'{%'";
    case Token::Kind::kBlockEnd:
      return "'%}'";
    case Token::Kind::kVariableBegin:
      return "'{{'";
    case Token::Kind::kVariableEnd:
      return "'}}'";
    case Token::Kind::kString:
      return "a string";
    case Token::Kind::kInteger:
    case Token::Kind::kFloat:
      return "a number";
    case Token::Kind::kEnd:
      return "the end of the template";
    default:
      return StrCat("'", token.text, "'");
  }
}

Expected<std::vector<Token>> Tokenize(std::string_view source) { return Lexer(source).Run(); }

}  // namespace rml::text::jinja
