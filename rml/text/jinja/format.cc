#include "rml/text/jinja/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "rml/text/jinja/format_spec.h"
#include "rml/text/jinja/operators.h"
#include "rml/text/jinja/repr.h"
#include "rml/text/jinja/subscript.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;

// '...' % values.
class PercentFormatter {
 public:
  PercentFormatter(Runtime& runtime, const Value& format, const Value& values)
      : runtime_(runtime), text_(format.text()), safe_(format.as_string().safe), values_(values) {}

  Expected<Value> Run() {
    while (at_ < text_.size()) {
      const size_t percent = std::min(text_.find('%', at_), text_.size());
      out_ += text_.substr(at_, percent - at_);
      at_ = percent;
      if (at_ < text_.size()) {
        ++at_;
        RML_TRY(Field());
      }
      RML_TRY(runtime_.CheckString(out_.size()));
    }
    const bool tuple = values_.kind() == Value::Kind::kTuple;
    const size_t given = tuple ? values_.items().size() : 1;
    // A dict (or list, which has items too) that is not used up is no error, as in Python.
    const bool mapping = values_.is_dict() || values_.kind() == Value::Kind::kList;
    if (used_ < given && !mapping) {
      return InvalidArgument("not all arguments converted during string formatting");
    }
    return runtime_.MakeString(std::move(out_), safe_);
  }

 private:
  Status Field() {
    FormatSpec spec;
    std::optional<Value> keyed;
    if (Take('(')) {
      const size_t close = text_.find(')', at_);
      if (close == std::string_view::npos) return InvalidArgument("incomplete format key");
      if (!values_.is_dict()) return InvalidArgument("format requires a mapping");
      const std::string_view key = text_.substr(at_, close - at_);
      const Value* value = values_.as_dict().Find(key);
      if (value == nullptr) return InvalidArgument("the mapping has no key '", key, "'");
      keyed = *value;
      at_ = close + 1;
    }
    bool zero = false;
    for (bool flags = true; flags && at_ < text_.size();) {
      switch (text_[at_]) {
        case '-':
          spec.align = '<';
          break;
        case '+':
          spec.sign = '+';
          break;
        case ' ':
          if (spec.sign != '+') spec.sign = ' ';
          break;
        case '#':
          spec.alternate = true;
          break;
        case '0':
          zero = true;
          break;
        default:
          flags = false;
      }
      if (flags) ++at_;
    }
    RML_TRY(Size(&spec.width));
    if (spec.width < 0) {
      spec.align = '<';
      spec.width = -std::max(spec.width, -INT64_MAX);
    }
    if (Take('.')) {
      spec.precision = 0;
      RML_TRY(Size(&spec.precision));
    }
    if (spec.align == 0) spec.align = '>';
    if (at_ == text_.size()) return InvalidArgument("incomplete format");
    spec.type = text_[at_++];
    if (spec.type == '%') {
      out_ += '%';
      return core::OkStatus();
    }
    if (!keyed) {
      RML_ASSIGN(keyed, NextValue());
    }
    const bool numeric = std::string_view("srac").find(spec.type) == std::string_view::npos;
    if (zero && numeric && spec.align == '>') {
      spec.align = '=';
      spec.fill.assign(1, '0');
    }
    return Convert(spec, *keyed);
  }

  Status Convert(FormatSpec spec, const Value& value) {
    switch (spec.type) {
      case 's': {
        RML_ASSIGN(std::string text, ToStr(runtime_, value));
        if (safe_ && !(value.is_string() && value.as_string().safe)) text = EscapeHtml(text);
        return FormatText(runtime_, spec, text, &out_);
      }
      case 'r':
      case 'a': {
        RML_ASSIGN(const std::string text, ToRepr(runtime_, value));
        return FormatText(runtime_, spec, text, &out_);
      }
      case 'c':
        if (value.is_string()) return FormatText(runtime_, spec, value.text(), &out_);
        [[fallthrough]];
      case 'x':
      case 'X':
      case 'o':
        if (!value.is_integral()) {
          return InvalidArgument("%", spec.type, " format: an integer is required, not ",
                                 value.type_name());
        }
        return FormatInt(runtime_, spec, value.as_int(), &out_);
      case 'd':
      case 'i':
      case 'u': {
        spec.type = 'd';
        if (!value.is_number()) break;
        if (value.is_integral()) return FormatInt(runtime_, spec, value.as_int(), &out_);
        const double whole = std::trunc(value.as_double());
        if (!(std::abs(whole) < 9.2e18)) return InvalidArgument("%d wants a finite 64-bit integer");
        return FormatInt(runtime_, spec, static_cast<int64_t>(whole), &out_);
      }
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        if (!value.is_number()) break;
        return FormatFloat(runtime_, spec, value.as_double(), &out_);
      default:
        return InvalidArgument("unsupported format character '", spec.type, "'");
    }
    return InvalidArgument("%", spec.type, " format: a real number is required, not ",
                           value.type_name());
  }

  Expected<Value> NextValue() {
    if (values_.kind() == Value::Kind::kTuple) {
      if (used_ < values_.items().size()) return values_.items()[used_++];
    } else if (used_ == 0) {
      ++used_;
      return values_;
    }
    return InvalidArgument("not enough arguments for format string");
  }

  // Digits, or '*' for an argument.
  Status Size(int64_t* size) {
    if (Take('*')) {
      RML_ASSIGN(const Value value, NextValue());
      if (!value.is_integral()) return InvalidArgument("* wants int");
      *size = value.as_int();
      return core::OkStatus();
    }
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), *size);
    if (error == std::errc::result_out_of_range)
      return InvalidArgument("width or precision too big");
    if (error == std::errc()) at_ = static_cast<size_t>(end - text_.data());
    return core::OkStatus();
  }

  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Runtime& runtime_;
  std::string_view text_;
  bool safe_;
  const Value& values_;
  size_t at_ = 0;
  size_t used_ = 0;
  std::string out_;
};

// '...'.format(...).
class BraceFormatter {
 public:
  BraceFormatter(Runtime& runtime, const CallArgs& args, bool safe)
      : runtime_(runtime), args_(args), safe_(safe) {}

  // Fields may stand in a format specification, one level deep.
  Expected<std::string> Run(std::string_view text, int level) {
    std::string out;
    size_t at = 0;
    while (at < text.size()) {
      const char c = text[at];
      if (c != '{' && c != '}') {
        out += c;
        ++at;
        continue;
      }
      if (at + 1 < text.size() && text[at + 1] == c && level == 0) {
        out += c;
        at += 2;
        continue;
      }
      if (c == '}') return InvalidArgument("single '}' encountered in format string");
      if (level > 1) return InvalidArgument("max string recursion exceeded");
      RML_ASSIGN(const size_t close, FindClose(text, at + 1));
      RML_TRY(Field(text.substr(at + 1, close - at - 1), level, &out));
      RML_TRY(runtime_.CheckString(out.size()));
      at = close + 1;
    }
    return out;
  }

 private:
  static Expected<size_t> FindClose(std::string_view text, size_t at) {
    int open = 0;
    for (; at < text.size(); ++at) {
      if (text[at] == '{') ++open;
      if (text[at] == '}' && open-- == 0) return at;
    }
    return InvalidArgument("expected '}' before end of string");
  }

  Status Field(std::string_view field, int level, std::string* out) {
    // A name may hold brackets with any text in them: [!:] do not end it there.
    size_t end = 0;
    while (end < field.size() && field[end] != '!' && field[end] != ':') {
      if (field[end] == '[') end = std::min(field.find(']', end), field.size() - 1);
      ++end;
    }
    RML_ASSIGN(Value value, Lookup(field.substr(0, end)));
    if (end < field.size() && field[end] == '!') {
      const char conversion = end + 1 < field.size() ? field[end + 1] : 0;
      if (conversion != 's' && conversion != 'r' && conversion != 'a') {
        return InvalidArgument("unknown conversion in the format field '", field, "'");
      }
      RML_ASSIGN(std::string text,
                 conversion == 's' ? ToStr(runtime_, value) : ToRepr(runtime_, value));
      RML_ASSIGN(value, runtime_.MakeString(std::move(text)));
      end += 2;
      if (end < field.size() && field[end] != ':') {
        return InvalidArgument("expected ':' after conversion specifier");
      }
    }
    std::string spec;
    if (end < field.size()) {
      RML_ASSIGN(spec, Run(field.substr(end + 1), level + 1));
    }
    return Convert(value, spec, out);
  }

  Status Convert(const Value& value, std::string_view spec_text, std::string* out) {
    if (spec_text.empty()) {
      RML_ASSIGN(std::string text, ToStr(runtime_, value));
      if (safe_ && !(value.is_string() && value.as_string().safe)) text = EscapeHtml(text);
      RML_TRY(runtime_.CheckString(out->size() + text.size()));
      *out += text;
      return core::OkStatus();
    }
    RML_ASSIGN(const FormatSpec spec, ParseFormatSpec(spec_text));
    if (value.is_string()) {
      if (spec.type != 0 && spec.type != 's') {
        return InvalidArgument("unknown format code '", spec.type, "' for object of type 'str'");
      }
      if (spec.align == '=') return InvalidArgument("'=' alignment not allowed in string format");
      return FormatText(runtime_, spec, value.text(), out);
    }
    if (value.is_integral()) {
      const bool whole = std::string_view("eEfFgG%").find(spec.type) == std::string_view::npos;
      if (whole && spec.type != 0 && spec.precision >= 0) {
        return InvalidArgument("precision not allowed in integer format specifier");
      }
      return FormatInt(runtime_, spec, value.as_int(), out);
    }
    if (value.is_number()) return FormatFloat(runtime_, spec, value.as_double(), out);
    return InvalidArgument("unsupported format string passed to ", value.type_name(),
                           ".__format__");
  }

  // name, 0, name.attribute[key] …
  Expected<Value> Lookup(std::string_view path) {
    const size_t end = std::min(path.find_first_of(".["), path.size());
    RML_ASSIGN(Value value, Argument(path.substr(0, end)));
    size_t at = end;
    while (at < path.size()) {
      if (path[at] == '.') {
        const size_t stop = std::min(path.find_first_of(".[", at + 1), path.size());
        RML_ASSIGN(value, GetAttribute(runtime_, value, path.substr(at + 1, stop - at - 1)));
        at = stop;
      } else if (path[at] == '[') {
        const size_t close = path.find(']', at);
        if (close == std::string_view::npos) return InvalidArgument("missing ']' in format string");
        const std::string_view key = path.substr(at + 1, close - at - 1);
        int64_t index = 0;
        RML_ASSIGN(value,
                   GetItem(runtime_, value, ParseIndex(key, &index) ? Value(index) : Value(key)));
        at = close + 1;
      } else {
        return InvalidArgument("only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return value;
  }

  Expected<Value> Argument(std::string_view name) {
    int64_t index = 0;
    if (name.empty()) {
      index = next_++;
    } else if (!ParseIndex(name, &index)) {
      for (const auto& [key, value] : args_.named) {
        if (key == name) return value;
      }
      return InvalidArgument("format() misses its argument '", name, "'");
    }
    if (index >= static_cast<int64_t>(args_.positional.size())) {
      return InvalidArgument("replacement index ", index,
                             " out of range for positional args tuple");
    }
    return args_.positional[static_cast<size_t>(index)];
  }

  static bool ParseIndex(std::string_view text, int64_t* index) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
      return false;
    return std::from_chars(text.data(), text.data() + text.size(), *index).ec == std::errc();
  }

  Runtime& runtime_;
  const CallArgs& args_;
  bool safe_;
  int64_t next_ = 0;
};

}  // namespace

Expected<Value> PercentFormat(Runtime& runtime, const Value& format, const Value& values) {
  RML_TRY(runtime.Charge(format.weight()));
  return PercentFormatter(runtime, format, values).Run();
}

Expected<Value> BraceFormat(Runtime& runtime, const Value& format, const CallArgs& args) {
  RML_TRY(runtime.Charge(format.weight()));
  const bool safe = format.as_string().safe;
  BraceFormatter formatter(runtime, args, safe);
  RML_ASSIGN(std::string text, formatter.Run(format.text(), 0));
  return runtime.MakeString(std::move(text), safe);
}

}  // namespace rml::text::jinja
