#include "rml/text/jinja/json.h"

#include <algorithm>
#include <cmath>

#include "rml/text/jinja/compare.h"
#include "rml/text/jinja/repr.h"
#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;

class JsonWriter {
 public:
  JsonWriter(Runtime& runtime, const JsonStyle& style) : runtime_(runtime), style_(style) {}

  Status Write(const Value& value) {
    RML_TRY(runtime_.Charge(value.is_string() ? value.weight() : 1));
    if (out_.size() > runtime_.limits().string_bytes) return runtime_.CheckString(out_.size());
    switch (value.kind()) {
      case Value::Kind::kNone:
      case Value::Kind::kBool:
      case Value::Kind::kInt:
      case Value::Kind::kFloat:
        out_ += Scalar(value);
        return core::OkStatus();
      case Value::Kind::kString:
        Text(value.text());
        return core::OkStatus();
      case Value::Kind::kList:
      case Value::Kind::kTuple:
        return Array(value.items());
      case Value::Kind::kDict:
        return Object(value.as_dict());
      default:
        return InvalidArgument("object of type ", value.type_name(), " is not JSON serializable");
    }
  }

  std::string Take() { return std::move(out_); }

 private:
  static std::string Scalar(const Value& value) {
    if (value.is_none()) return "null";
    if (value.is_bool()) return value.as_bool() ? "true" : "false";
    if (value.is_integral()) return std::to_string(value.as_int());
    const double number = value.as_double();
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
    return FloatRepr(number);
  }

  Status Array(const Items& items) {
    if (items.empty()) {
      out_ += "[]";
      return core::OkStatus();
    }
    out_ += '[';
    ++level_;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i != 0) out_ += style_.item_separator;
      RML_TRY(NewLine());
      RML_TRY(Write(items[i]));
    }
    --level_;
    RML_TRY(NewLine());
    out_ += ']';
    return core::OkStatus();
  }

  Status Object(const Dict& dict) {
    if (dict.size() == 0) {
      out_ += "{}";
      return core::OkStatus();
    }
    std::vector<const Dict::Entry*> entries;
    for (const Dict::Entry& entry : dict.entries()) entries.push_back(&entry);
    if (style_.sort_keys) RML_TRY(Sort(&entries));
    out_ += '{';
    ++level_;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i != 0) out_ += style_.item_separator;
      RML_TRY(NewLine());
      RML_TRY(Key(entries[i]->key));
      out_ += style_.key_separator;
      RML_TRY(Write(entries[i]->value));
    }
    --level_;
    RML_TRY(NewLine());
    out_ += '}';
    return core::OkStatus();
  }

  static Status Sort(std::vector<const Dict::Entry*>* entries) {
    Status failure;
    std::stable_sort(entries->begin(), entries->end(),
                     [&](const Dict::Entry* a, const Dict::Entry* b) {
                       const Expected<int> order = Compare(a->key, b->key);
                       if (!order.ok()) {
                         failure = order.status();
                         return false;
                       }
                       return *order == -1;
                     });
    return failure;
  }

  Status Key(const Value& key) {
    if (key.is_string()) {
      RML_TRY(runtime_.Charge(key.weight()));
      Text(key.text());
    } else if (key.is_number() || key.is_none()) {
      out_ += '"' + Scalar(key) + '"';
    } else {
      return InvalidArgument("keys must be str, int, float, bool or None, not ", key.type_name());
    }
    return core::OkStatus();
  }

  Status NewLine() {
    if (!style_.indent) return core::OkStatus();
    RML_TRY(runtime_.CheckString(out_.size() + style_.indent->size() * level_));
    out_ += '\n';
    for (size_t i = 0; i < level_; ++i) out_ += *style_.indent;
    return core::OkStatus();
  }

  void Text(std::string_view text) {
    out_ += '"';
    for (size_t at = 0; at < text.size();) {
      const Rune rune = DecodeRune(text, at);
      Character(rune.code, text.substr(at, rune.bytes));
      at += rune.bytes;
    }
    out_ += '"';
  }

  void Character(char32_t code, std::string_view bytes) {
    switch (code) {
      case '"':
        out_ += "\\\"";
        return;
      case '\\':
        out_ += "\\\\";
        return;
      case '\n':
        out_ += "\\n";
        return;
      case '\r':
        out_ += "\\r";
        return;
      case '\t':
        out_ += "\\t";
        return;
      case '\f':
        out_ += "\\f";
        return;
      case '\b':
        out_ += "\\b";
        return;
      default:
        break;
    }
    const bool plain = code >= 0x20 && (code < 0x7F || !style_.ensure_ascii);
    if (plain) {
      out_ += bytes;
    } else if (code < 0x10000) {
      Escape(code);
    } else {
      Escape(0xD800 + ((code - 0x10000) >> 10));
      Escape(0xDC00 + ((code - 0x10000) & 0x3FF));
    }
  }

  void Escape(char32_t unit) {
    constexpr char kHex[] = "0123456789abcdef";
    out_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out_ += kHex[unit >> shift & 15];
  }

  Runtime& runtime_;
  const JsonStyle& style_;
  std::string out_;
  size_t level_ = 0;
};

}  // namespace

Expected<std::string> ToJson(Runtime& runtime, const Value& value, const JsonStyle& style) {
  JsonWriter writer(runtime, style);
  RML_TRY(writer.Write(value));
  std::string text = writer.Take();
  RML_TRY(runtime.CheckString(text.size()));
  return text;
}

Value FromJson(const io::Json& json) {
  switch (json.kind()) {
    case io::Json::Kind::kNull:
      return Value();
    case io::Json::Kind::kBool:
      return Value(*json.As<bool>());
    case io::Json::Kind::kInt:
      return Value(*json.As<int64_t>());
    case io::Json::Kind::kDouble:
      return Value(*json.As<double>());
    case io::Json::Kind::kString:
      return Value(*json.As<std::string_view>());
    case io::Json::Kind::kArray: {
      Items items;
      items.reserve(json.size());
      for (const io::Json& item : json.items()) items.push_back(FromJson(item));
      return Value::List(std::move(items));
    }
    case io::Json::Kind::kObject: {
      Dict dict;
      for (const io::Json::Member& member : json.members()) {
        dict.Set(member.key, FromJson(member.value));
      }
      return Value(std::move(dict));
    }
  }
  return Value();
}

}  // namespace rml::text::jinja
