#include <algorithm>

#include "rml/text/jinja/args.h"
#include "rml/text/jinja/filters.h"
#include "rml/text/jinja/format.h"
#include "rml/text/jinja/operators.h"
#include "rml/text/jinja/repr.h"
#include "rml/text/jinja/text_ops.h"
#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;

// The subject as text: most text filters take anything and print it first. Markup stays Markup.
struct Subject {
  std::string text;
  bool safe;
};

Expected<Subject> AsText(Runtime& runtime, const Value& value) {
  RML_ASSIGN(std::string text, ToStr(runtime, value));
  return Subject{std::move(text), value.is_string() && value.as_string().safe};
}

template <std::string (*kMap)(std::string_view)>
Expected<Value> MapText(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("text filter", args, {}));
  RML_ASSIGN(const Subject subject, AsText(runtime, value));
  RML_TRY(runtime.Charge(static_cast<int64_t>(subject.text.size() / 16)));
  return runtime.MakeString(kMap(subject.text), subject.safe);
}

Expected<Value> Trim(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("trim", args, {"chars"}));
  RML_ASSIGN(const Subject subject, AsText(runtime, value));
  std::optional<std::string_view> chars;
  if (bound.has(0) && !bound[0]->is_none()) {
    RML_ASSIGN(chars, bound.Text(0, ""));
    RML_TRY(runtime.Charge(static_cast<int64_t>(chars->size() / 32) *
                           static_cast<int64_t>(subject.text.size())));
  }
  return runtime.MakeString(std::string(Strip(subject.text, Sides::kBoth, chars)), subject.safe);
}

// Jinja's title(): a word begins after white space, '-', '(', '{', '[' and '<' only.
std::string TitleWords(std::string_view text) {
  std::string out;
  const auto separates = [](const Rune& rune) {
    return IsSpace(rune.code) ||
           std::u32string_view(U"-({[<").find(rune.code) != std::u32string_view::npos;
  };
  for (size_t at = 0; at < text.size();) {
    const Rune first = DecodeRune(text, at);
    if (separates(first)) {
      out += text.substr(at, first.bytes);
      at += first.bytes;
      continue;
    }
    size_t end = at + first.bytes;
    while (end < text.size() && !separates(DecodeRune(text, end)))
      end += DecodeRune(text, end).bytes;
    out += Upper(text.substr(at, first.bytes));
    out += Lower(text.substr(at + first.bytes, end - at - first.bytes));
    at = end;
  }
  return out;
}

Expected<Value> ReplaceFilter(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("replace", args, {"old", "new", "count"}, 2));
  RML_ASSIGN(const std::string subject, ToStr(runtime, value));
  RML_ASSIGN(const std::string from, ToStr(runtime, *bound[0]));
  RML_ASSIGN(const std::string to, ToStr(runtime, *bound[1]));
  int64_t count = -1;
  if (bound.has(2) && !bound[2]->is_none()) {
    RML_ASSIGN(count, bound.Int(2, -1));
  }
  RML_ASSIGN(std::string text, Replace(runtime, subject, from, to, count));
  return runtime.MakeString(std::move(text));
}

Expected<Value> Indent(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("indent", args, {"width", "first", "blank"}));
  if (!value.is_string()) {
    return InvalidArgument("indent wants a string, not ", value.type_name());
  }
  std::string prefix;
  if (bound.has(0) && bound[0]->is_string()) {
    prefix = bound[0]->text();
  } else {
    RML_ASSIGN(const int64_t width, bound.Int(0, 4));
    RML_ASSIGN(prefix, Pad(runtime, "", width, 0, " "));
  }
  const bool first = bound.Bool(1, false);
  const bool blank = bound.Bool(2, false);
  RML_TRY(runtime.CheckString(value.text().size() + 1));
  const std::string text = std::string(value.text()) + "\n";
  const std::vector<std::string_view> lines = SplitLines(text, false);
  std::string out = first ? prefix : "";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i != 0) {
      out += '\n';
      if (blank || !lines[i].empty()) out += prefix;
    }
    out += lines[i];
    if (out.size() > runtime.limits().string_bytes) return runtime.CheckString(out.size());
  }
  return runtime.MakeString(std::move(out), value.as_string().safe);
}

Expected<Value> Center(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("center", args, {"width"}));
  RML_ASSIGN(const int64_t width, bound.Int(0, 80));
  RML_ASSIGN(const Subject subject, AsText(runtime, value));
  const int64_t length = RuneCount(subject.text);
  const int64_t missing = width > length ? width - length : 0;
  const int64_t left = missing / 2 + (missing & width & 1);
  RML_ASSIGN(std::string text, Pad(runtime, subject.text, left, missing - left, " "));
  return runtime.MakeString(std::move(text), subject.safe);
}

Expected<Value> Truncate(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound,
             Bind("truncate", args, {"length", "killwords", "end", "leeway"}));
  RML_ASSIGN(const int64_t length, bound.Int(0, 255));
  RML_ASSIGN(const std::string_view end, bound.Text(2, "..."));
  int64_t leeway = 5;
  if (bound.has(3) && !bound[3]->is_none()) {
    RML_ASSIGN(leeway, bound.Int(3, 5));
  }
  RML_ASSIGN(const Subject subject, AsText(runtime, value));
  const std::string_view text = subject.text;
  const int64_t room = length - RuneCount(end);
  if (room < 0) return InvalidArgument("truncate's length is shorter than its end");
  if (RuneCount(text) - length <= leeway) return runtime.MakeString(subject.text, subject.safe);
  std::string_view kept = text.substr(0, RuneOffset(text, room));
  if (!bound.Bool(1, false)) kept = kept.substr(0, std::min(kept.rfind(' '), kept.size()));
  return runtime.MakeString(std::string(kept) + std::string(end), subject.safe);
}

Expected<Value> WordCount(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("wordcount", args, {}));
  RML_ASSIGN(const std::string text, ToStr(runtime, value));
  int64_t count = 0;
  bool inside = false;
  for (size_t at = 0; at < text.size();) {
    const Rune rune = DecodeRune(text, at);
    const bool word = IsWord(rune.code);
    if (word && !inside) ++count;
    inside = word;
    at += rune.bytes;
  }
  return Value(count);
}

Expected<Value> Escape(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("escape", args, {}));
  RML_ASSIGN(const Subject subject, AsText(runtime, value));
  return runtime.MakeString(subject.safe ? subject.text : EscapeHtml(subject.text), true);
}

Expected<Value> ForceEscape(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("forceescape", args, {}));
  RML_ASSIGN(const Subject subject, AsText(runtime, value));
  return runtime.MakeString(EscapeHtml(subject.text), true);
}

Expected<Value> Safe(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("safe", args, {}));
  RML_ASSIGN(Subject subject, AsText(runtime, value));
  return runtime.MakeString(std::move(subject.text), true);
}

Expected<Value> ToString(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("string", args, {}));
  if (value.is_string()) return value;
  RML_ASSIGN(std::string text, ToStr(runtime, value));
  return runtime.MakeString(std::move(text));
}

Expected<Value> Format(Runtime& runtime, const Value& value, const CallArgs& args) {
  if (!args.named.empty() && !args.positional.empty()) {
    return InvalidArgument("format can't handle positional and keyword arguments at the same time");
  }
  RML_ASSIGN(Value text, ToString(runtime, value, {}));
  if (args.named.empty()) {
    RML_ASSIGN(const Value values, runtime.MakeTuple(args.positional));
    return PercentFormat(runtime, text, values);
  }
  Dict dict;
  for (const auto& [name, argument] : args.named) dict.Set(name, argument);
  RML_ASSIGN(const Value values, runtime.MakeDict(std::move(dict)));
  return PercentFormat(runtime, text, values);
}

// A path keeps its slashes; in a query a blank becomes '+'.
std::string PercentEncode(std::string_view text, bool query) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || std::string_view("_.-~").find(c) != std::string_view::npos ||
        (c == '/' && !query)) {
      out += c;
    } else if (c == ' ' && query) {
      out += '+';
    } else {
      out += '%';
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    }
  }
  return out;
}

Expected<Value> UrlEncode(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("urlencode", args, {}));
  if (!value.is_dict()) {
    if (value.is_sequence()) {
      return core::Unsupported("urlencode of a ", value.type_name(), "; give it a mapping");
    }
    RML_ASSIGN(const std::string text, ToStr(runtime, value));
    return runtime.MakeString(PercentEncode(text, false));
  }
  std::string out;
  for (const Dict::Entry& entry : value.as_dict().entries()) {
    RML_ASSIGN(const std::string key, ToStr(runtime, entry.key));
    RML_ASSIGN(const std::string text, ToStr(runtime, entry.value));
    if (!out.empty()) out += '&';
    out += PercentEncode(key, true) + "=" + PercentEncode(text, true);
    RML_TRY(runtime.CheckString(out.size()));
  }
  return runtime.MakeString(std::move(out));
}

constexpr Filter kTextFilters[] = {
    {"capitalize", MapText<Capitalize>},
    {"center", Center},
    {"e", Escape},
    {"escape", Escape},
    {"forceescape", ForceEscape},
    {"format", Format},
    {"indent", Indent},
    {"lower", MapText<Lower>},
    {"replace", ReplaceFilter},
    {"safe", Safe},
    {"string", ToString},
    {"title", MapText<TitleWords>},
    {"trim", Trim},
    {"truncate", Truncate},
    {"upper", MapText<Upper>},
    {"urlencode", UrlEncode},
    {"wordcount", WordCount},
};

}  // namespace

std::span<const Filter> TextFilters() { return kTextFilters; }

}  // namespace rml::text::jinja
