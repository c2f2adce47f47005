// Builds a Json from text with simdjson's on-demand parser, which checks UTF-8 and structure at
// gigabytes a second and leaves the numbers to us, so that integers past 64 bits become doubles.
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>

#include "rml/io/json.h"
#include "rml/io/json_object.h"
#include "rml/io/mapped_file.h"

namespace rml::io {

using core::Expected;
using core::Status;
using core::StrCat;
using simdjson::error_code;

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The number at the start of `text`: its length by JSON's grammar (0 when malformed), and whether it
// has a fraction or an exponent.
struct NumberToken {
  size_t length = 0;
  bool integer = true;
};

NumberToken ScanNumber(std::string_view text) {
  size_t i = 0;
  const auto digits = [&] {
    const size_t first = i;
    while (i < text.size() && IsDigit(text[i])) ++i;
    return i - first;
  };
  NumberToken token;
  if (i < text.size() && text[i] == '-') ++i;
  if (i < text.size() && text[i] == '0') {
    ++i;
  } else if (digits() == 0) {
    return {};
  }
  if (i < text.size() && text[i] == '.') {
    token.integer = false;
    ++i;
    if (digits() == 0) return {};
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    token.integer = false;
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (digits() == 0) return {};
  }
  token.length = i;
  return token;
}

std::string_view TrimRight(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::string_view Explain(error_code error) {
  switch (error) {
    case simdjson::STRING_ERROR: return "a string holds a malformed escape";
    case simdjson::UTF8_ERROR: return "the text is not UTF-8";
    case simdjson::UNESCAPED_CHARS: return "a string holds an unescaped control character";
    case simdjson::UNCLOSED_STRING: return "a string is not closed";
    case simdjson::NUMBER_ERROR: return "a number is malformed";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR: return "a value is none of true, false and null";
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT: return "an array or object is not closed";
    case simdjson::EMPTY: return "the text is empty";
    case simdjson::MEMALLOC: return "there is not enough memory to parse it";
    default: return "a value, comma, colon or bracket is missing or misplaced";
  }
}

// Bytes of the UTF-8 sequence at the start of `text`, 0 when malformed.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool too_long = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) >= 0xa0;
  const bool past_the_end = first == 0xf4 && byte(1) >= 0x90;
  return too_long || surrogate || past_the_end ? 0 : length;
}

// simdjson's first stage reports what it finds without a place; this finds the place again.
size_t FindLexicalError(std::string_view text, error_code error) {
  if (error == simdjson::UTF8_ERROR) {
    size_t i = 0;
    while (i < text.size()) {
      const size_t length = Utf8Length(text.substr(i));
      if (length == 0) return i;
      i += length;
    }
    return i;
  }
  bool in_string = false;
  size_t opened = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!in_string) {
      in_string = c == '"';
      opened = i;
    } else if (c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = false;
    } else if (static_cast<unsigned char>(c) < 0x20 && error == simdjson::UNESCAPED_CHARS) {
      return i;
    }
  }
  return in_string ? opened : text.size();
}

Status ErrorAt(std::string_view text, size_t offset, std::string_view reason) {
  offset = std::min(offset, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(offset), '\n');
  return core::DataLoss("malformed JSON at line ", line, ", byte ", offset, ": ", reason);
}

}  // namespace

class JsonBuilder {
 public:
  JsonBuilder(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

  Expected<Json> Run() {
    // The text is parsed inside one more array. So a lone scalar needs no case of its own, and text
    // after the value shows as a second item or a bracket too many.
    simdjson::padded_string padded(text_.size() + 2);
    char* const copy = padded.data();
    if (copy == nullptr) return core::ResourceExhausted("no memory for a JSON text of ", text_.size(), " bytes");
    copy[0] = '[';
    if (!text_.empty()) std::memcpy(copy + 1, text_.data(), text_.size());
    copy[text_.size() + 1] = ']';
    begin_ = copy;

    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    if (const error_code error = parser.iterate(padded).get(document)) {
      return ErrorAt(text_, FindLexicalError(text_, error), Explain(error));
    }
    document_ = &document;
    simdjson::ondemand::array root;
    Json result;
    size_t count = 0;
    if (const error_code error = document.get_array().get(root)) return Fail(error);
    for (auto item : root) {
      simdjson::ondemand::value value;
      if (const error_code error = std::move(item).get(value)) return Fail(error);
      if (count++ > 0) return ErrorAt(text_, Offset(), "there is text after the value");
      RML_TRY(Build(value, 0, &result));
    }
    if (count == 0) return ErrorAt(text_, 0, "the text is empty");
    if (!document.at_end()) return ErrorAt(text_, Offset(), "there is text after the value");
    return result;
  }

 private:
  Status Build(simdjson::ondemand::value& value, int depth, Json* out) {
    simdjson::ondemand::json_type type;
    if (const error_code error = value.type().get(type)) return Fail(error);
    switch (type) {
      case simdjson::ondemand::json_type::object: return BuildObject(value, depth, out);
      case simdjson::ondemand::json_type::array: return BuildArray(value, depth, out);
      case simdjson::ondemand::json_type::string: {
        std::string_view text;
        if (const error_code error = value.get_string().get(text)) return Fail(error);
        RML_TRY(CheckUnescaped(text));
        out->value_ = std::string(text);
        return core::OkStatus();
      }
      case simdjson::ondemand::json_type::number: return BuildNumber(value, out);
      case simdjson::ondemand::json_type::boolean: {
        bool boolean = false;
        if (const error_code error = value.get_bool().get(boolean)) return Fail(error);
        out->value_ = boolean;
        return core::OkStatus();
      }
      case simdjson::ondemand::json_type::null:
        if (!value.is_null()) return Fail(simdjson::N_ATOM_ERROR);
        out->value_ = nullptr;
        return core::OkStatus();
    }
    return Fail(simdjson::TAPE_ERROR);
  }

  Status BuildArray(simdjson::ondemand::value& value, int depth, Json* out) {
    if (depth >= limits_.depth) return TooDeep();
    simdjson::ondemand::array array;
    if (const error_code error = value.get_array().get(array)) return Fail(error);
    Json::Array items;
    for (auto item : array) {
      simdjson::ondemand::value element;
      if (const error_code error = std::move(item).get(element)) return Fail(error);
      RML_TRY(Build(element, depth + 1, &items.emplace_back()));
    }
    out->value_ = std::move(items);
    return core::OkStatus();
  }

  Status BuildObject(simdjson::ondemand::value& value, int depth, Json* out) {
    if (depth >= limits_.depth) return TooDeep();
    simdjson::ondemand::object object;
    if (const error_code error = value.get_object().get(object)) return Fail(error);
    Json result = Json::MakeObject();
    auto& members = *std::get<std::unique_ptr<Json::Object, Json::DeleteObject>>(result.value_);
    for (auto item : object) {
      simdjson::ondemand::field field;
      if (const error_code error = std::move(item).get(field)) return Fail(error);
      std::string_view key_view;
      if (const error_code error = field.unescaped_key().get(key_view)) return Fail(error);
      RML_TRY(CheckUnescaped(key_view));
      const size_t offset = Offset();
      std::string key(key_view);
      Json member;
      RML_TRY(Build(field.value(), depth + 1, &member));
      if (!members.Add(std::move(key), std::move(member))) {
        return ErrorAt(text_, offset, StrCat("the key \"", key_view, "\" appears twice"));
      }
    }
    *out = std::move(result);
    return core::OkStatus();
  }

  Status BuildNumber(simdjson::ondemand::value& value, Json* out) {
    const std::string_view token = TrimRight(value.raw_json_token());
    const size_t offset = static_cast<size_t>(token.data() - begin_) - 1;
    const NumberToken number = ScanNumber(token);
    if (number.length != token.size()) return ErrorAt(text_, offset, Explain(simdjson::NUMBER_ERROR));
    const char* const end = token.data() + token.size();
    if (number.integer) {
      int64_t integer = 0;
      if (std::from_chars(token.data(), end, integer).ec == std::errc() && token != "-0") {
        out->value_ = integer;
        return Consume(value);
      }
    }
    double real = 0;
    const auto parsed = std::from_chars(token.data(), end, real);
    if (parsed.ec == std::errc::result_out_of_range) {
      // Either too large, which JSON's readers refuse, or too small, which is zero.
      real = std::strtod(std::string(token).c_str(), nullptr);
      if (real > 1 || real < -1) return ErrorAt(text_, offset, "a number is too large for a double");
    } else if (parsed.ec != std::errc() || parsed.ptr != end) {
      return ErrorAt(text_, offset, Explain(simdjson::NUMBER_ERROR));
    }
    out->value_ = real;
    return Consume(value);
  }

  // Moves past a value that was read through its raw token.
  Status Consume(simdjson::ondemand::value& value) {
    double ignored = 0;
    const error_code error = value.get_double().get(ignored);
    // simdjson refuses doubles that round to infinity or have very many digits; ours was read above.
    if (error != simdjson::SUCCESS && error != simdjson::NUMBER_ERROR) return Fail(error);
    return core::OkStatus();
  }

  // simdjson's \u escapes may yield lone surrogates.
  Status CheckUnescaped(std::string_view text) {
    if (text.size() >= 3 && std::memchr(text.data(), 0xed, text.size()) != nullptr &&
        !simdjson::validate_utf8(text.data(), text.size())) {
      return ErrorAt(text_, Offset(), "a string holds a lone surrogate");
    }
    return core::OkStatus();
  }

  size_t Offset() {
    const char* location = nullptr;
    if (document_->current_location().get(location) != simdjson::SUCCESS) return text_.size();
    const size_t offset = static_cast<size_t>(location - begin_);
    return offset == 0 ? 0 : offset - 1;
  }
  Status Fail(error_code error) { return ErrorAt(text_, Offset(), Explain(error)); }
  Status TooDeep() {
    return ErrorAt(text_, Offset(), StrCat("arrays and objects are nested deeper than ", limits_.depth));
  }

  std::string_view text_;
  JsonLimits limits_;
  const char* begin_ = nullptr;  // of the padded copy, one byte before the text's first
  simdjson::ondemand::document* document_ = nullptr;
};

Expected<Json> Json::Parse(std::string_view text, const JsonLimits& limits) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  // simdjson indexes with 32 bits.
  const uint64_t max_bytes = std::min<uint64_t>(limits.bytes, 0xfffffff0);
  if (text.size() > max_bytes) {
    return core::ResourceExhausted("a JSON text of ", text.size(), " bytes is longer than the limit of ",
                                   max_bytes);
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
