#include "rml/text/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "rml/text/jinja/unicode_special_case.h"

namespace rml::text::jinja {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kFinalSigma = 0x3C2;
constexpr char32_t kCapitalIWithDot = 0x130;

utf8proc_category_t Category(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

void AppendAll(const char32_t* codes, std::string* out) {
  for (; *codes != 0; ++codes) AppendRune(*codes, out);
}

const SpecialCase* FindSpecialCase(char32_t code) {
  const auto* it =
      std::lower_bound(std::begin(kSpecialCases), std::end(kSpecialCases), code,
                       [](const SpecialCase& row, char32_t wanted) { return row.code < wanted; });
  return it != std::end(kSpecialCases) && it->code == code ? it : nullptr;
}

void AppendUpper(char32_t code, std::string* out) {
  if (const SpecialCase* row = FindSpecialCase(code)) return AppendAll(row->upper, out);
  AppendRune(static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(code))), out);
}

void AppendTitle(char32_t code, std::string* out) {
  if (const SpecialCase* row = FindSpecialCase(code)) return AppendAll(row->title, out);
  AppendRune(static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(code))), out);
}

bool IsCased(char32_t code) { return IsUpper(code) || IsLower(code) || IsTitle(code); }

// Marks, modifiers and such, which Unicode's rule for the final sigma looks past.
bool IsCaseIgnorable(char32_t code) {
  switch (Category(code)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return code == '\'' || code == '.' || code == ':' || code == 0xB7 || code == 0x2019;
  }
}

// Whether the sigma at `at` ends its word.
bool IsFinalSigma(std::string_view text, size_t at) {
  bool after_letter = false;
  for (size_t i = at; i > 0;) {
    do {
      --i;
    } while (i > 0 && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80);
    const char32_t code = DecodeRune(text, i).code;
    if (IsCaseIgnorable(code)) continue;
    after_letter = IsCased(code);
    break;
  }
  if (!after_letter) return false;
  for (size_t i = at + 2; i < text.size();) {
    const Rune rune = DecodeRune(text, i);
    if (!IsCaseIgnorable(rune.code)) return !IsCased(rune.code);
    i += rune.bytes;
  }
  return true;
}

void AppendLower(std::string_view text, size_t at, char32_t code, std::string* out) {
  if (code == kCapitalSigma && IsFinalSigma(text, at)) return AppendRune(kFinalSigma, out);
  if (code == kCapitalIWithDot) return AppendAll(U"i\u0307", out);
  AppendRune(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))), out);
}

// Calls change(place, rune, out) for each character; bytes that are not UTF-8 pass unchanged.
template <typename Change>
std::string MapRunes(std::string_view text, const Change& change) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Rune rune = DecodeRune(text, at);
    if (rune.code == kReplacement) {
      out.append(text.substr(at, rune.bytes));
    } else {
      change(at, rune.code, &out);
    }
    at += rune.bytes;
  }
  return out;
}

}  // namespace

Rune DecodeRune(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  constexpr Rune kInvalid = {kReplacement, 1};
  if (lead < 0xC2 || lead > 0xF4 || at + length > text.size()) return kInvalid;
  char32_t code = lead & (0x7F >> length);
  for (int i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return kInvalid;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) return kInvalid;
  return {code, static_cast<uint8_t>(length)};
}

void AppendRune(char32_t code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
    return;
  }
  if (code < 0x800) {
    out->push_back(static_cast<char>(0xC0 | code >> 6));
  } else {
    if (code < 0x10000) {
      out->push_back(static_cast<char>(0xE0 | code >> 12));
    } else {
      out->push_back(static_cast<char>(0xF0 | code >> 18));
      out->push_back(static_cast<char>(0x80 | (code >> 12 & 0x3F)));
    }
    out->push_back(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
  }
  out->push_back(static_cast<char>(0x80 | (code & 0x3F)));
}

bool IsUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Rune rune = DecodeRune(text, at);
    if (rune.code == kReplacement && rune.bytes == 1) return false;
    at += rune.bytes;
  }
  return true;
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

int64_t RuneCount(std::string_view text) {
  int64_t count = 0;
  for (size_t at = 0; at < text.size(); at += DecodeRune(text, at).bytes) ++count;
  return count;
}

size_t RuneOffset(std::string_view text, int64_t index) {
  size_t at = 0;
  while (index > 0 && at < text.size()) {
    at += DecodeRune(text, at).bytes;
    --index;
  }
  return at;
}

bool IsSpace(char32_t code) {
  if (code < 0x80) return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
         code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool IsPrintable(char32_t code) {
  if (code < 0x80) return code >= 0x20 && code < 0x7F;
  switch (Category(code)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

bool IsLetter(char32_t code) {
  if (code < 0x80) return (code | 0x20) >= 'a' && (code | 0x20) <= 'z';
  const utf8proc_category_t category = Category(code);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool IsDecimal(char32_t code) {
  if (code < 0x80) return code >= '0' && code <= '9';
  return Category(code) == UTF8PROC_CATEGORY_ND;
}

bool IsDigit(char32_t code) {
  if (IsDecimal(code)) return true;
  // Superscripts, subscripts and the circled and bracketed digits.
  return code == 0xB2 || code == 0xB3 || code == 0xB9 || code == 0x2070 ||
         (code >= 0x2074 && code <= 0x2079) || (code >= 0x2080 && code <= 0x2089) ||
         (code >= 0x2460 && code <= 0x2468) || (code >= 0x2474 && code <= 0x247C) ||
         (code >= 0x2488 && code <= 0x2490);
}

bool IsNumeric(char32_t code) {
  if (IsDigit(code)) return true;
  if (code < 0x80) return false;
  const utf8proc_category_t category = Category(code);
  return category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_NO;
}

bool IsUpper(char32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z';
  return Category(code) == UTF8PROC_CATEGORY_LU || (code >= 0x2160 && code <= 0x216F) ||
         (code >= 0x24B6 && code <= 0x24CF);
}

bool IsLower(char32_t code) {
  if (code < 0x80) return code >= 'a' && code <= 'z';
  return Category(code) == UTF8PROC_CATEGORY_LL || code == 0xAA || code == 0xBA ||
         (code >= 0x2170 && code <= 0x217F) || (code >= 0x24D0 && code <= 0x24E9);
}

bool IsTitle(char32_t code) { return code >= 0x80 && Category(code) == UTF8PROC_CATEGORY_LT; }

bool IsWord(char32_t code) { return code == '_' || IsLetter(code) || IsNumeric(code); }

bool IsLineBreak(char32_t code) {
  return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 ||
         code == 0x2028 || code == 0x2029;
}

std::string Upper(std::string_view text) {
  return MapRunes(text, [](size_t, char32_t code, std::string* out) { AppendUpper(code, out); });
}

std::string Lower(std::string_view text) {
  return MapRunes(
      text, [&](size_t at, char32_t code, std::string* out) { AppendLower(text, at, code, out); });
}

std::string Title(std::string_view text) {
  bool inside_word = false;
  return MapRunes(text, [&](size_t at, char32_t code, std::string* out) {
    if (inside_word) {
      AppendLower(text, at, code, out);
    } else {
      AppendTitle(code, out);
    }
    inside_word = IsCased(code);
  });
}

std::string Capitalize(std::string_view text) {
  return MapRunes(text, [&](size_t at, char32_t code, std::string* out) {
    if (at == 0) {
      AppendTitle(code, out);
    } else {
      AppendLower(text, at, code, out);
    }
  });
}

std::string SwapCase(std::string_view text) {
  return MapRunes(text, [&](size_t at, char32_t code, std::string* out) {
    if (IsUpper(code)) {
      AppendLower(text, at, code, out);
    } else if (IsLower(code)) {
      AppendUpper(code, out);
    } else {
      AppendRune(code, out);
    }
  });
}

std::string CaseFold(std::string_view text) {
  return MapRunes(text, [](size_t, char32_t code, std::string* out) {
    utf8proc_int32_t folded[8];
    int boundary = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), folded, std::size(folded),
                                UTF8PROC_CASEFOLD, &boundary);
    if (count < 0 || count > static_cast<utf8proc_ssize_t>(std::size(folded))) {
      return AppendRune(code, out);
    }
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      AppendRune(static_cast<char32_t>(folded[i]), out);
    }
  });
}

std::string_view StripLeft(std::string_view text) {
  while (!text.empty()) {
    const Rune rune = DecodeRune(text, 0);
    if (!IsSpace(rune.code)) break;
    text.remove_prefix(rune.bytes);
  }
  return text;
}

std::string_view StripRight(std::string_view text) {
  while (!text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && text.size() - at < 4 &&
           (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
      --at;
    }
    const Rune rune = DecodeRune(text, at);
    if (at + rune.bytes != text.size() || !IsSpace(rune.code)) break;
    text.remove_suffix(rune.bytes);
  }
  return text;
}

}  // namespace rml::text::jinja
