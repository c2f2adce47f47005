#include "rml/text/jinja/text_ops.h"

#include <algorithm>
#include <cstring>

#include "rml/core/checked_math.h"
#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {
namespace {

bool HasRune(std::string_view chars, std::string_view rune) {
  for (size_t at = 0; at < chars.size();) {
    const size_t bytes = DecodeRune(chars, at).bytes;
    if (chars.substr(at, bytes) == rune) return true;
    at += bytes;
  }
  return false;
}

// Where the last character starts; text is not empty.
size_t LastRune(std::string_view text) {
  // The longest that ends the text: a continuation byte alone would also decode, as no character.
  for (size_t back = std::min<size_t>(4, text.size()); back > 1; --back) {
    const size_t at = text.size() - back;
    if (DecodeRune(text, at).bytes == back) return at;
  }
  return text.size() - 1;
}

size_t SkipWord(std::string_view text, size_t at) {
  while (at < text.size()) {
    const Rune rune = DecodeRune(text, at);
    if (IsSpace(rune.code)) break;
    at += rune.bytes;
  }
  return at;
}

}  // namespace

size_t FindText(std::string_view text, std::string_view wanted, size_t from) {
  if (wanted.empty()) return from <= text.size() ? from : std::string_view::npos;
  // memmem is linear, but the sanitizers' reads all of its haystack, wherever the hit is: windows
  // that grow make a loop over many hits linear there too.
  size_t window = std::max<size_t>(64, 2 * wanted.size());
  while (from < text.size() && text.size() - from >= wanted.size()) {
    const std::string_view part = text.substr(from, window);
    const void* found = memmem(part.data(), part.size(), wanted.data(), wanted.size());
    if (found != nullptr) return static_cast<size_t>(static_cast<const char*>(found) - text.data());
    if (part.size() < window) break;
    from += window - wanted.size() + 1;
    window *= 2;
  }
  return std::string_view::npos;
}

std::string_view Strip(std::string_view text, Sides sides, std::optional<std::string_view> chars) {
  const bool left = (static_cast<int>(sides) & static_cast<int>(Sides::kLeft)) != 0;
  const bool right = (static_cast<int>(sides) & static_cast<int>(Sides::kRight)) != 0;
  if (!chars) {
    if (left) text = StripLeft(text);
    return right ? StripRight(text) : text;
  }
  while (left && !text.empty()) {
    const std::string_view rune = text.substr(0, DecodeRune(text, 0).bytes);
    if (!HasRune(*chars, rune)) break;
    text.remove_prefix(rune.size());
  }
  while (right && !text.empty()) {
    const std::string_view rune = text.substr(LastRune(text));
    if (!HasRune(*chars, rune)) break;
    text.remove_suffix(rune.size());
  }
  return text;
}

std::vector<std::string_view> SplitSpace(std::string_view text, int64_t max_splits) {
  std::vector<std::string_view> parts;
  text = StripLeft(text);
  while (!text.empty()) {
    if (max_splits >= 0 && static_cast<int64_t>(parts.size()) >= max_splits) {
      parts.push_back(text);
      break;
    }
    const size_t end = SkipWord(text, 0);
    parts.push_back(text.substr(0, end));
    text = StripLeft(text.substr(end));
  }
  return parts;
}

std::vector<std::string_view> SplitSpaceFromRight(std::string_view text, int64_t max_splits) {
  std::vector<std::string_view> parts;
  text = StripRight(text);
  while (!text.empty()) {
    if (max_splits >= 0 && static_cast<int64_t>(parts.size()) >= max_splits) {
      parts.push_back(text);
      break;
    }
    size_t begin = text.size();
    while (begin > 0) {
      const size_t at = LastRune(text.substr(0, begin));
      if (IsSpace(DecodeRune(text, at).code)) break;
      begin = at;
    }
    parts.push_back(text.substr(begin));
    text = StripRight(text.substr(0, begin));
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string_view> Split(std::string_view text, std::string_view separator,
                                    int64_t max_splits) {
  std::vector<std::string_view> parts;
  while (max_splits < 0 || static_cast<int64_t>(parts.size()) < max_splits) {
    const size_t at = FindText(text, separator);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string_view> SplitFromRight(std::string_view text, std::string_view separator,
                                             int64_t max_splits) {
  std::vector<std::string_view> parts;
  while (max_splits < 0 || static_cast<int64_t>(parts.size()) < max_splits) {
    const size_t at = text.rfind(separator);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(at + separator.size()));
    text = text.substr(0, at);
  }
  parts.push_back(text);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string_view> SplitLines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const Rune rune = DecodeRune(text, at);
    if (!IsLineBreak(rune.code)) {
      at += rune.bytes;
      continue;
    }
    size_t end = at + rune.bytes;
    if (rune.code == '\r' && end < text.size() && text[end] == '\n') ++end;
    lines.push_back(text.substr(begin, (keep_ends ? end : at) - begin));
    begin = at = end;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

Expected<std::string> Replace(Runtime& runtime, std::string_view text, std::string_view from,
                              std::string_view to, int64_t max_count) {
  RML_TRY(runtime.Charge(static_cast<int64_t>(text.size() / 32)));
  std::string out;
  size_t at = 0;
  for (int64_t count = 0; max_count < 0 || count < max_count; ++count) {
    if (from.empty()) {  // between all characters, and at both ends
      out += to;
      if (at == text.size()) {
        return out;
      }
      const size_t bytes = DecodeRune(text, at).bytes;
      out += text.substr(at, bytes);
      at += bytes;
    } else {
      const size_t found = FindText(text, from, at);
      if (found == std::string_view::npos) break;
      out += text.substr(at, found - at);
      out += to;
      at = found + from.size();
    }
    RML_TRY(runtime.Charge(1));
    if (out.size() > runtime.limits().string_bytes) return runtime.CheckString(out.size());
  }
  out += text.substr(at);
  return out;
}

Expected<std::string> Pad(Runtime& runtime, std::string_view text, int64_t left, int64_t right,
                          std::string_view fill) {
  left = std::max<int64_t>(left, 0);
  right = std::max<int64_t>(right, 0);
  const int64_t most = static_cast<int64_t>(runtime.limits().string_bytes) + 1;
  const size_t bytes = static_cast<size_t>(std::min(left, most)) * fill.size() +
                       static_cast<size_t>(std::min(right, most)) * fill.size();
  RML_TRY(runtime.CheckString(text.size() + bytes));
  std::string out;
  out.reserve(text.size() + bytes);
  for (int64_t i = 0; i < left; ++i) out += fill;
  out += text;
  for (int64_t i = 0; i < right; ++i) out += fill;
  return out;
}

Expected<Value> MakeStringList(Runtime& runtime, const std::vector<std::string_view>& parts,
                               bool safe) {
  if (static_cast<int64_t>(parts.size()) > runtime.limits().value_items) {
    return core::ResourceExhausted("a list holds more than ", runtime.limits().value_items,
                                   " values");
  }
  Items items;
  items.reserve(parts.size());
  for (const std::string_view part : parts) {
    RML_ASSIGN(Value item, runtime.MakeString(std::string(part), safe));
    items.push_back(std::move(item));
  }
  RML_TRY(runtime.Charge(static_cast<int64_t>(items.size())));
  return runtime.MakeList(std::move(items));
}

}  // namespace rml::text::jinja
