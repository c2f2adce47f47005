#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "rml/io/json.h"
#include "rml/io/utf8.h"

namespace rml::io {
namespace {

void AppendQuoted(std::string_view text, std::string* out) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  out->push_back('"');
  size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    const size_t length = Utf8SequenceLength(text.substr(i));
    if (length == 0) {
      *out += "\xef\xbf\xbd";  // U+FFFD
      ++i;
      continue;
    }
    if (length > 1) {
      out->append(text.substr(i, length));
      i += length;
      continue;
    }
    ++i;
    switch (c) {
      case '"':
        *out += "\\\"";
        break;
      case '\\':
        *out += "\\\\";
        break;
      case '\b':
        *out += "\\b";
        break;
      case '\f':
        *out += "\\f";
        break;
      case '\n':
        *out += "\\n";
        break;
      case '\r':
        *out += "\\r";
        break;
      case '\t':
        *out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          *out += "\\u00";
          out->push_back(kHex[static_cast<size_t>(c >> 4)]);
          out->push_back(kHex[static_cast<size_t>(c & 15)]);
        } else {
          out->push_back(c);
        }
    }
  }
  out->push_back('"');
}

void AppendDouble(double value, std::string* out) {
  if (!std::isfinite(value)) {
    *out += "null";
    return;
  }
  std::array<char, 32> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  const std::string_view text(digits.data(), static_cast<size_t>(written.ptr - digits.data()));
  *out += text;
  // Without a fraction or an exponent it would be read back as an integer.
  if (text.find_first_of(".e") == std::string_view::npos) *out += ".0";
}

void AppendScalar(const Json& value, std::string* out) {
  switch (value.kind()) {
    case Json::Kind::kBool:
      *out += *value.As<bool>() ? "true" : "false";
      break;
    case Json::Kind::kInt:
      *out += core::StrCat(*value.As<int64_t>());
      break;
    case Json::Kind::kDouble:
      AppendDouble(*value.As<double>(), out);
      break;
    case Json::Kind::kString:
      AppendQuoted(*value.As<std::string_view>(), out);
      break;
    default:
      *out += "null";
  }
}

void AppendNewLine(int indent, size_t depth, std::string* out) {
  if (indent < 0) return;
  out->push_back('\n');
  out->append(static_cast<size_t>(indent) * depth, ' ');
}

}  // namespace

std::string Json::Dump(int indent) const {
  // A stack of our own: a value that was built, not parsed, may be nested to any depth.
  struct Open {
    const Json* value;
    size_t next;
  };
  std::string out;
  std::vector<Open> open;
  const auto begin = [&](const Json& value) {
    if (!value.is_array() && !value.is_object()) {
      AppendScalar(value, &out);
    } else if (value.size() == 0) {
      out += value.is_array() ? "[]" : "{}";
    } else {
      out.push_back(value.is_array() ? '[' : '{');
      open.push_back({&value, 0});
    }
  };
  begin(*this);
  while (!open.empty()) {
    Open& top = open.back();
    const bool is_array = top.value->is_array();
    if (top.next == top.value->size()) {
      open.pop_back();
      AppendNewLine(indent, open.size(), &out);
      out.push_back(is_array ? ']' : '}');
      continue;
    }
    if (top.next > 0) out += indent < 0 ? ", " : ",";
    AppendNewLine(indent, open.size(), &out);
    const size_t index = top.next++;
    if (is_array) {
      begin(top.value->items()[index]);
    } else {
      const Member& member = top.value->members()[index];
      AppendQuoted(member.key, &out);
      out += ": ";
      begin(member.value);
    }
  }
  return out;
}

}  // namespace rml::io
