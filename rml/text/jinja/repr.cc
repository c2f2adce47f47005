#include "rml/text/jinja/repr.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "rml/core/strcat.h"
#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {
namespace {

class Printer {
 public:
  explicit Printer(Runtime& runtime) : runtime_(runtime) {}

  Status Repr(const Value& value) {
    RML_TRY(runtime_.Charge(1));
    if (out_.size() > runtime_.limits().string_bytes) return runtime_.CheckString(out_.size());
    switch (value.kind()) {
      case Value::Kind::kUndefined:
        out_ += "Undefined";
        return core::OkStatus();
      case Value::Kind::kNone:
        out_ += "None";
        return core::OkStatus();
      case Value::Kind::kBool:
        out_ += value.as_bool() ? "True" : "False";
        return core::OkStatus();
      case Value::Kind::kInt:
        out_ += std::to_string(value.as_int());
        return core::OkStatus();
      case Value::Kind::kFloat:
        out_ += FloatRepr(value.as_double());
        return core::OkStatus();
      case Value::Kind::kString:
        return Text(value.as_string());
      case Value::Kind::kList:
      case Value::Kind::kTuple:
      case Value::Kind::kView:
        return List(value.as_sequence());
      case Value::Kind::kDict:
        return Mapping(value.as_dict());
      case Value::Kind::kObject:
        return Other(value.as_object());
    }
    return core::OkStatus();
  }

  std::string Take() { return std::move(out_); }

 private:
  Status Text(const String& string) {
    RML_TRY(runtime_.Charge(static_cast<int64_t>(string.text.size() / 32)));
    RML_TRY(runtime_.CheckString(out_.size() + string.text.size()));
    if (string.safe) out_ += "Markup(";
    AppendStringRepr(string.text, &out_);
    if (string.safe) out_ += ')';
    return core::OkStatus();
  }

  Status List(const Sequence& sequence) {
    switch (sequence.type) {
      case Sequence::Type::kRange:
        out_ += sequence.label;
        return core::OkStatus();
      case Sequence::Type::kList:
        return Joined(sequence.items, "[", "]");
      case Sequence::Type::kTuple:
      case Sequence::Type::kGroup:
        return Joined(sequence.items, "(", sequence.items.size() == 1 ? ",)" : ")");
      case Sequence::Type::kDictKeys:
        return Joined(sequence.items, "dict_keys([", "])");
      case Sequence::Type::kDictValues:
        return Joined(sequence.items, "dict_values([", "])");
      case Sequence::Type::kDictItems:
        return Joined(sequence.items, "dict_items([", "])");
    }
    return core::OkStatus();
  }

  Status Joined(const Items& items, std::string_view open, std::string_view close) {
    out_ += open;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i != 0) out_ += ", ";
      RML_TRY(Repr(items[i]));
    }
    out_ += close;
    return core::OkStatus();
  }

  Status Mapping(const Dict& dict) {
    out_ += '{';
    for (size_t i = 0; i < dict.size(); ++i) {
      if (i != 0) out_ += ", ";
      RML_TRY(Repr(dict.entries()[i].key));
      out_ += ": ";
      RML_TRY(Repr(dict.entries()[i].value));
    }
    out_ += '}';
    return core::OkStatus();
  }

  Status Other(Object& object) {
    const auto* space = dynamic_cast<const Namespace*>(&object);
    if (space == nullptr) {
      out_ += object.Describe();
      return core::OkStatus();
    }
    // A namespace can hold itself, through any number of lists and other namespaces.
    if (++namespaces_ > kNamespaceDepth) {
      return core::ResourceExhausted("namespaces are nested deeper than ", kNamespaceDepth);
    }
    out_ += "<Namespace ";
    RML_TRY(Mapping(space->attributes()));
    out_ += '>';
    --namespaces_;
    return core::OkStatus();
  }

  static constexpr int kNamespaceDepth = 8;

  Runtime& runtime_;
  std::string out_;
  int namespaces_ = 0;
};

}  // namespace

std::string FloatRepr(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  // The shortest digits that read back equal, as d.ddde±xx.
  char buffer[40];
  const auto result =
      std::to_chars(buffer, std::end(buffer), number, std::chars_format::scientific);
  const std::string_view text(buffer, result.ptr);
  const size_t e = text.find('e');
  int exponent = 0;
  const size_t sign_skip = text[e + 1] == '+' ? 2 : 1;
  std::from_chars(text.data() + e + sign_skip, text.data() + text.size(), exponent);
  const bool negative = text[0] == '-';
  std::string digits;
  for (const char c : text.substr(negative, e - negative)) {
    if (c != '.') digits += c;
  }

  std::string out = negative ? "-" : "";
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (count > 1) out += "." + digits.substr(1);
    const int size = std::abs(exponent);
    return core::StrCat(out, exponent < 0 ? "e-" : "e+", size < 10 ? "0" : "", size);
  }
  if (exponent < 0) return out + "0." + std::string(-exponent - 1, '0') + digits;
  if (count <= exponent + 1) return out + digits + std::string(exponent + 1 - count, '0') + ".0";
  return out + digits.substr(0, exponent + 1) + "." + digits.substr(exponent + 1);
}

void AppendStringRepr(std::string_view text, std::string* out) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  out->push_back(quote);
  for (size_t at = 0; at < text.size();) {
    const Rune rune = DecodeRune(text, at);
    const char32_t code = rune.code;
    if (code == static_cast<unsigned char>(quote) || code == '\\') {
      out->push_back('\\');
      out->push_back(static_cast<char>(code));
    } else if (code == '\n') {
      *out += "\\n";
    } else if (code == '\r') {
      *out += "\\r";
    } else if (code == '\t') {
      *out += "\\t";
    } else if (IsPrintable(code)) {
      out->append(text.substr(at, rune.bytes));
    } else {
      char escape[16];
      std::snprintf(escape, sizeof(escape),
                    code < 0x100     ? "\\x%02x"
                    : code < 0x10000 ? "\\u%04x"
                                     : "\\U%08x",
                    static_cast<unsigned>(code));
      *out += escape;
    }
    at += rune.bytes;
  }
  out->push_back(quote);
}

Expected<std::string> ToRepr(Runtime& runtime, const Value& value) {
  Printer printer(runtime);
  RML_TRY(printer.Repr(value));
  std::string text = printer.Take();
  RML_TRY(runtime.CheckString(text.size()));
  return text;
}

Expected<std::string> ToStr(Runtime& runtime, const Value& value) {
  if (value.is_undefined()) return std::string();
  if (value.is_string()) {
    RML_TRY(runtime.Charge(value.weight()));
    return std::string(value.text());
  }
  return ToRepr(runtime, value);
}

}  // namespace rml::text::jinja
