#include <algorithm>

#include "rml/text/jinja/args.h"
#include "rml/text/jinja/cursor.h"
#include "rml/text/jinja/format.h"
#include "rml/text/jinja/methods.h"
#include "rml/text/jinja/operators.h"
#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/text_ops.h"
#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;

// Mapping a character costs more than copying it.
constexpr int64_t kMapCost = 3;

// A method that takes no arguments and maps text to text.
template <std::string (*kMap)(std::string_view)>
Expected<Value> MapString(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_TRY(Bind("str method", args, {}));
  RML_TRY(runtime.Charge(kMapCost * self.weight()));
  return runtime.MakeString(kMap(self.text()), self.as_string().safe);
}

template <Sides kSides>
Expected<Value> StripMethod(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("strip", args, {"chars"}));
  RML_TRY(runtime.Charge(self.weight()));
  std::optional<std::string_view> chars;
  if (bound.has(0) && !bound[0]->is_none()) {
    RML_ASSIGN(chars, bound.Text(0, ""));
    RML_TRY(runtime.Charge(static_cast<int64_t>(chars->size() / 32) *
                           static_cast<int64_t>(self.text().size())));
  }
  return runtime.MakeString(std::string(Strip(self.text(), kSides, chars)), self.as_string().safe);
}

// Searching backwards is quadratic at worst, and paid for as such.
Status ChargeFromRight(Runtime& runtime, std::string_view text, std::string_view wanted) {
  return runtime.Charge(static_cast<int64_t>(text.size() / 32 * wanted.size() / 32));
}

template <bool kFromRight>
Expected<Value> SplitMethod(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("split", args, {"sep", "maxsplit"}));
  RML_ASSIGN(int64_t max_splits, bound.Int(1, -1));
  RML_TRY(runtime.Charge(self.weight()));
  // One part more than a list may have is enough to be refused.
  const int64_t most = runtime.limits().value_items;
  max_splits = max_splits < 0 ? most : std::min(max_splits, most);
  const std::string_view text = self.text();
  std::vector<std::string_view> parts;
  if (!bound.has(0) || bound[0]->is_none()) {
    parts = kFromRight ? SplitSpaceFromRight(text, max_splits) : SplitSpace(text, max_splits);
  } else {
    RML_ASSIGN(const std::string_view separator, bound.Text(0, ""));
    if (separator.empty()) return InvalidArgument("empty separator");
    if (kFromRight) RML_TRY(ChargeFromRight(runtime, text, separator));
    parts = kFromRight ? SplitFromRight(text, separator, max_splits)
                       : Split(text, separator, max_splits);
  }
  return MakeStringList(runtime, parts, self.as_string().safe);
}

Expected<Value> SplitLinesMethod(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("splitlines", args, {"keepends"}));
  RML_TRY(runtime.Charge(self.weight()));
  return MakeStringList(runtime, SplitLines(self.text(), bound.Bool(0, false)),
                        self.as_string().safe);
}

// The part of the text that the optional start and end of find(), count(), startswith() … select.
struct Window {
  std::string_view text;
  int64_t first_rune;
  bool empty_range;  // start lies behind the end: then not even '' is found
};

Expected<Window> SelectWindow(Runtime& runtime, const Value& self, const BoundArgs& bound) {
  RML_TRY(runtime.Charge(self.weight()));
  const std::string_view text = self.text();
  const auto given = [&](size_t i) { return bound.has(i) && !bound[i]->is_none(); };
  if (!given(1) && !given(2)) return Window{text, 0, false};
  RML_ASSIGN(const int64_t length, Length(runtime, self));
  int64_t start = 0;
  int64_t stop = length;
  if (given(1)) {
    RML_ASSIGN(start, bound.Int(1, 0));
  }
  if (given(2)) {
    RML_ASSIGN(stop, bound.Int(2, length));
  }
  if (start < 0) start = std::max<int64_t>(0, start + length);
  if (stop < 0) stop = std::max<int64_t>(0, stop + length);
  stop = std::min(stop, length);
  if (start > stop) return Window{{}, start, true};
  const size_t begin = RuneOffset(text, start);
  const size_t end = RuneOffset(text, stop);
  return Window{text.substr(begin, end - begin), start, false};
}

template <bool kSuffix>
Expected<Value> HasAffix(Runtime& runtime, const Value& self, const CallArgs& args) {
  const std::string_view name = kSuffix ? "endswith" : "startswith";
  RML_ASSIGN(const BoundArgs bound, Bind(name, args, {"affix", "start", "end"}, 1));
  RML_ASSIGN(const Window window, SelectWindow(runtime, self, bound));
  const auto matches = [&](const Value& affix) {
    if (window.empty_range) return false;
    return kSuffix ? window.text.ends_with(affix.text()) : window.text.starts_with(affix.text());
  };
  const bool tuple = bound[0]->kind() == Value::Kind::kTuple;
  if (!tuple && !bound[0]->is_string()) {
    return InvalidArgument(name, " first arg must be str or a tuple of str, not ",
                           bound[0]->type_name());
  }
  if (!tuple) return Value(matches(*bound[0]));
  for (const Value& affix : bound[0]->items()) {
    if (!affix.is_string()) {
      return InvalidArgument("tuple for ", name, " must only contain str, not ", affix.type_name());
    }
    if (matches(affix)) return Value(true);
  }
  return Value(false);
}

template <bool kFromRight>
Expected<int64_t> FindIn(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("find", args, {"sub", "start", "end"}, 1));
  if (!bound[0]->is_string()) return InvalidArgument("must be str, not ", bound[0]->type_name());
  RML_ASSIGN(const Window window, SelectWindow(runtime, self, bound));
  if (window.empty_range) return int64_t{-1};
  const std::string_view wanted = bound[0]->text();
  if (kFromRight) RML_TRY(ChargeFromRight(runtime, window.text, wanted));
  const size_t at = kFromRight ? window.text.rfind(wanted) : FindText(window.text, wanted);
  if (at == std::string_view::npos) return int64_t{-1};
  return window.first_rune + RuneCount(window.text.substr(0, at));
}

template <bool kFromRight>
Expected<Value> FindString(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const int64_t at, FindIn<kFromRight>(runtime, self, args));
  return Value(at);
}

template <bool kFromRight>
Expected<Value> IndexString(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const int64_t at, FindIn<kFromRight>(runtime, self, args));
  if (at < 0) return InvalidArgument("substring not found");
  return Value(at);
}

Expected<Value> CountString(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("count", args, {"sub", "start", "end"}, 1));
  if (!bound[0]->is_string()) return InvalidArgument("must be str, not ", bound[0]->type_name());
  RML_ASSIGN(const Window window, SelectWindow(runtime, self, bound));
  if (window.empty_range) return Value(0);
  const std::string_view wanted = bound[0]->text();
  if (wanted.empty()) return Value(RuneCount(window.text) + 1);
  int64_t count = 0;
  for (size_t at = 0; (at = FindText(window.text, wanted, at)) != std::string_view::npos;) {
    ++count;
    at += wanted.size();
    RML_TRY(runtime.Charge(1));
  }
  return Value(count);
}

Expected<Value> ReplaceMethod(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("replace", args, {"old", "new", "count"}, 2));
  for (const size_t i : {0, 1}) {
    if (!bound[i]->is_string()) {
      return InvalidArgument("replace() argument ", i + 1, " must be str, not ",
                             bound[i]->type_name());
    }
  }
  RML_ASSIGN(const int64_t count, bound.Int(2, -1));
  const bool safe = self.as_string().safe;
  const auto part = [&](const Value& value) {
    return safe && !value.as_string().safe ? EscapeHtml(value.text()) : std::string(value.text());
  };
  RML_ASSIGN(std::string text,
             Replace(runtime, self.text(), part(*bound[0]), part(*bound[1]), count));
  return runtime.MakeString(std::move(text), safe);
}

Expected<Value> JoinStrings(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("join", args, {"iterable"}, 1));
  if (!IsIterable(*bound[0])) return InvalidArgument("can only join an iterable");
  const bool safe = self.as_string().safe;
  Cursor cursor(*bound[0]);
  std::string out;
  for (int64_t i = 0;; ++i) {
    RML_ASSIGN(const std::optional<Value> item, cursor.Next(runtime));
    if (!item) break;
    if (!item->is_string()) {
      return InvalidArgument("sequence item ", i, ": expected str instance, ", item->type_name(),
                             " found");
    }
    if (i != 0) out += self.text();
    out += safe && !item->as_string().safe ? EscapeHtml(item->text()) : std::string(item->text());
    if (out.size() > runtime.limits().string_bytes) return runtime.CheckString(out.size());
  }
  return runtime.MakeString(std::move(out), safe);
}

template <bool kFromRight>
Expected<Value> Partition(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("partition", args, {"sep"}, 1));
  if (!bound[0]->is_string()) return InvalidArgument("must be str, not ", bound[0]->type_name());
  const std::string_view text = self.text();
  const std::string_view separator = bound[0]->text();
  if (separator.empty()) return InvalidArgument("empty separator");
  RML_TRY(runtime.Charge(self.weight()));
  if (kFromRight) RML_TRY(ChargeFromRight(runtime, text, separator));
  const size_t at = kFromRight ? text.rfind(separator) : FindText(text, separator);
  std::string_view parts[3] = {text, "", ""};
  if (at != std::string_view::npos) {
    parts[0] = text.substr(0, at);
    parts[1] = separator;
    parts[2] = text.substr(at + separator.size());
  } else if (kFromRight) {
    std::swap(parts[0], parts[2]);
  }
  Items items;
  for (const std::string_view part : parts) {
    RML_ASSIGN(Value item, runtime.MakeString(std::string(part), self.as_string().safe));
    items.push_back(std::move(item));
  }
  return runtime.MakeTuple(std::move(items));
}

template <bool kSuffix>
Expected<Value> RemoveAffix(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("removeprefix or removesuffix", args, {"affix"}, 1));
  if (!bound[0]->is_string()) return InvalidArgument("must be str, not ", bound[0]->type_name());
  RML_TRY(runtime.Charge(self.weight()));
  std::string_view text = self.text();
  const std::string_view affix = bound[0]->text();
  if (kSuffix && text.ends_with(affix)) text.remove_suffix(affix.size());
  if (!kSuffix && text.starts_with(affix)) text.remove_prefix(affix.size());
  return runtime.MakeString(std::string(text), self.as_string().safe);
}

enum class Place : uint8_t { kLeft, kCenter, kRight };

template <Place kPlace>
Expected<Value> Justify(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("center, ljust or rjust", args, {"width", "fillchar"}, 1));
  RML_ASSIGN(const int64_t width, bound.Int(0, 0));
  RML_ASSIGN(const std::string_view fill, bound.Text(1, " "));
  if (RuneCount(fill) != 1) {
    return InvalidArgument("the fill character must be exactly one character long");
  }
  RML_ASSIGN(const int64_t length, Length(runtime, self));
  const int64_t missing = width > length ? width - length : 0;
  int64_t left = 0;
  if (kPlace == Place::kRight) left = missing;
  // CPython's str.center() puts the odd one to the left when the width is odd.
  if (kPlace == Place::kCenter) left = missing / 2 + (missing & width & 1);
  RML_ASSIGN(std::string text, Pad(runtime, self.text(), left, missing - left, fill));
  return runtime.MakeString(std::move(text), self.as_string().safe);
}

Expected<Value> ZeroFill(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("zfill", args, {"width"}, 1));
  RML_ASSIGN(const int64_t width, bound.Int(0, 0));
  RML_ASSIGN(const int64_t length, Length(runtime, self));
  std::string_view text = self.text();
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  const std::string sign(text.substr(0, has_sign));
  text.remove_prefix(has_sign);
  RML_ASSIGN(const std::string padded,
             Pad(runtime, text, width > length ? width - length : 0, 0, "0"));
  return runtime.MakeString(sign + padded, self.as_string().safe);
}

Expected<Value> ExpandTabs(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("expandtabs", args, {"tabsize"}));
  RML_ASSIGN(const int64_t size, bound.Int(0, 8));
  std::string out;
  int64_t column = 0;
  for (const char c : self.text()) {
    if (c == '\t') {
      const int64_t spaces = size > 0 ? size - column % size : 0;
      RML_TRY(runtime.CheckString(out.size() + static_cast<size_t>(spaces)));
      out.append(static_cast<size_t>(spaces), ' ');
      column += spaces;
      continue;
    }
    out += c;
    if (c == '\n' || c == '\r') {
      column = 0;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++column;
    }
  }
  return runtime.MakeString(std::move(out), self.as_string().safe);
}

// True when the text is not empty and all its characters pass.
template <bool (*kTest)(char32_t)>
Expected<Value> All(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_TRY(Bind("str method", args, {}));
  RML_TRY(runtime.Charge(self.weight()));
  const std::string_view text = self.text();
  for (size_t at = 0; at < text.size();) {
    const Rune rune = DecodeRune(text, at);
    if (!kTest(rune.code)) return Value(false);
    at += rune.bytes;
  }
  return Value(!text.empty());
}

bool IsAlphanumeric(char32_t code) { return IsLetter(code) || IsNumeric(code); }

// isupper and islower: at least one cased character, and none of the other case.
template <bool kUpper>
Expected<Value> AllCased(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_TRY(Bind("str method", args, {}));
  RML_TRY(runtime.Charge(self.weight()));
  const std::string_view text = self.text();
  bool found = false;
  for (size_t at = 0; at < text.size();) {
    const Rune rune = DecodeRune(text, at);
    if (IsTitle(rune.code) || (kUpper ? IsLower(rune.code) : IsUpper(rune.code))) {
      return Value(false);
    }
    found = found || (kUpper ? IsUpper(rune.code) : IsLower(rune.code));
    at += rune.bytes;
  }
  return Value(found);
}

Expected<Value> IsTitleCased(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_TRY(Bind("istitle", args, {}));
  RML_TRY(runtime.Charge(self.weight()));
  const std::string_view text = self.text();
  bool found = false;
  bool inside_word = false;
  for (size_t at = 0; at < text.size();) {
    const Rune rune = DecodeRune(text, at);
    const bool upper = IsUpper(rune.code) || IsTitle(rune.code);
    const bool lower = IsLower(rune.code);
    if ((upper && inside_word) || (lower && !inside_word)) return Value(false);
    inside_word = upper || lower;
    found = found || inside_word;
    at += rune.bytes;
  }
  return Value(found);
}

Expected<Value> IsAsciiMethod(Runtime&, const Value& self, const CallArgs& args) {
  RML_TRY(Bind("isascii", args, {}));
  return Value(self.as_string().ascii);
}

Expected<Value> IsPrintableMethod(Runtime& runtime, const Value& self, const CallArgs& args) {
  if (self.text().empty()) return Value(true);
  return All<IsPrintable>(runtime, self, args);
}

Expected<Value> IsIdentifier(Runtime& runtime, const Value& self, const CallArgs& args) {
  if (!self.text().empty() && IsDecimal(DecodeRune(self.text(), 0).code)) return Value(false);
  return All<IsWord>(runtime, self, args);
}

Expected<Value> NotHere(Runtime&, const Value&, const CallArgs&) {
  return core::Unsupported(
      "str.encode, format_map, maketrans and translate are not supported in templates");
}

constexpr Method kMethods[] = {
    {"capitalize", MapString<Capitalize>},
    {"casefold", MapString<CaseFold>},
    {"center", Justify<Place::kCenter>},
    {"count", CountString},
    {"encode", NotHere},
    {"endswith", HasAffix<true>},
    {"expandtabs", ExpandTabs},
    {"find", FindString<false>},
    {"format", BraceFormat},
    {"format_map", NotHere},
    {"index", IndexString<false>},
    {"isalnum", All<IsAlphanumeric>},
    {"isalpha", All<IsLetter>},
    {"isascii", IsAsciiMethod},
    {"isdecimal", All<IsDecimal>},
    {"isdigit", All<IsDigit>},
    {"isidentifier", IsIdentifier},
    {"islower", AllCased<false>},
    {"isnumeric", All<IsNumeric>},
    {"isprintable", IsPrintableMethod},
    {"isspace", All<IsSpace>},
    {"istitle", IsTitleCased},
    {"isupper", AllCased<true>},
    {"join", JoinStrings},
    {"ljust", Justify<Place::kLeft>},
    {"lower", MapString<Lower>},
    {"lstrip", StripMethod<Sides::kLeft>},
    {"maketrans", NotHere},
    {"partition", Partition<false>},
    {"removeprefix", RemoveAffix<false>},
    {"removesuffix", RemoveAffix<true>},
    {"replace", ReplaceMethod},
    {"rfind", FindString<true>},
    {"rindex", IndexString<true>},
    {"rjust", Justify<Place::kRight>},
    {"rpartition", Partition<true>},
    {"rsplit", SplitMethod<true>},
    {"rstrip", StripMethod<Sides::kRight>},
    {"split", SplitMethod<false>},
    {"splitlines", SplitLinesMethod},
    {"startswith", HasAffix<false>},
    {"strip", StripMethod<Sides::kBoth>},
    {"swapcase", MapString<SwapCase>},
    {"title", MapString<Title>},
    {"translate", NotHere},
    {"upper", MapString<Upper>},
    {"zfill", ZeroFill},
};

}  // namespace

const Method* FindStringMethod(std::string_view name) {
  const auto* it = std::lower_bound(
      std::begin(kMethods), std::end(kMethods), name,
      [](const Method& method, std::string_view wanted) { return method.name < wanted; });
  return it != std::end(kMethods) && it->name == name ? it : nullptr;
}

}  // namespace rml::text::jinja
