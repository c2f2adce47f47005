#include "rml/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "rml/core/check.h"

namespace rml::text {
namespace {

bool IsWhiteSpace(char32_t code) {
  if (code >= 0x9 && code <= 0xD) return true;
  if (code >= 0x2000 && code <= 0x200A) return true;
  switch (code) {
    case 0x20:
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
      return true;
    default:
      return false;
  }
}

uint8_t ComputeClass(char32_t code) {
  const uint8_t space = IsWhiteSpace(code) ? kSpace : 0;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return kLetter | kUpper;
    case UTF8PROC_CATEGORY_LL:
      return kLetter | kLower;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kLetter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return kMark;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return kPunctuation;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return kSymbol;
    default:
      return space;
  }
}

using BmpTable = std::array<uint8_t, 0x10000>;

// Filled at first use: 0.2 ms, against a look-up in two tables of utf8proc for every character.
const BmpTable& BmpClasses() {
  static const BmpTable* const table = [] {
    auto* classes = new BmpTable;
    for (char32_t code = 0; code < classes->size(); ++code) (*classes)[code] = ComputeClass(code);
    return classes;
  }();
  return *table;
}

// Whether a character, whatever stands before it, is the same in NFC and starts a new segment.
bool IsNfcInert(char32_t code) {
  if (code < 0x300 || code == kInvalidChar) return true;
  if (code >= 0x1100 && code <= 0x11FF) return false;  // jamo compose into syllables
  const utf8proc_property_t* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
  if (property->combining_class != 0) return false;
  if (ClassOfCode(code) & kMark) return false;  // those of class 0 that compose are all marks
  const bool decomposes = property->decomp_seqindex != UINT16_MAX && property->decomp_type == 0;
  return !decomposes;
}

int CombiningClass(utf8proc_int32_t code) { return utf8proc_get_property(code)->combining_class; }

// Decomposes the characters of `text` (valid UTF-8) into `codes`.
void Decompose(std::string_view text, utf8proc_option_t options,
               std::vector<utf8proc_int32_t>* codes) {
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end) {
    const DecodedChar c = DecodeChar(p, end);
    p += c.size;
    utf8proc_int32_t buffer[64];  // the longest decomposition has 18
    int last_boundclass = UTF8PROC_BOUNDCLASS_START;
    const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c.code),
                                                           buffer, 64, options, &last_boundclass);
    RML_CHECK(count >= 0 && count <= 64);
    codes->insert(codes->end(), buffer, buffer + count);
  }
}

// Puts every run of marks into canonical order. utf8proc's own ordering is quadratic in the run.
void OrderMarks(std::vector<utf8proc_int32_t>* codes) {
  auto begin = codes->begin();
  while (begin != codes->end()) {
    begin = std::find_if(begin, codes->end(), [](auto c) { return CombiningClass(c) != 0; });
    const auto end =
        std::find_if(begin, codes->end(), [](auto c) { return CombiningClass(c) == 0; });
    std::stable_sort(begin, end,
                     [](auto a, auto b) { return CombiningClass(a) < CombiningClass(b); });
    begin = end;
  }
}

void NormalizeValid(std::string_view text, NormalForm form, std::string* out) {
  const bool compat = form == NormalForm::kNfkc || form == NormalForm::kNfkd;
  const bool compose = form == NormalForm::kNfc || form == NormalForm::kNfkc;
  auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                                (compat ? UTF8PROC_COMPAT : 0));
  std::vector<utf8proc_int32_t> codes;
  codes.reserve(text.size());
  Decompose(text, options, &codes);
  OrderMarks(&codes);
  auto count = static_cast<utf8proc_ssize_t>(codes.size());
  if (compose) {
    count = utf8proc_normalize_utf32(
        codes.data(), count, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    RML_CHECK(count >= 0);
  }
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    AppendUtf8(static_cast<char32_t>(codes[static_cast<size_t>(i)]), out);
  }
}

}  // namespace

#define RML_OTHER_8 0, 0, 0, 0, 0, 0, 0, 0
// Categories of U+0000 … U+007F: control, then as the rows read.
const uint8_t kAsciiClass[128] = {
    // 00
    RML_OTHER_8, 0, kSpace, kSpace, kSpace, kSpace, kSpace, 0, 0,
    // 10
    RML_OTHER_8, RML_OTHER_8,
    // 20: space ! " # $ % & ' ( ) * + , - . /
    kSpace, 16, 16, 16, 32, 16, 16, 16, 16, 16, 16, 32, 16, 16, 16, 16,
    // 30: 0 … 9 : ; < = > ?
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 16, 16, 32, 32, 32, 16,
    // 40: @ A … O
    16, 65, 65, 65, 65, 65, 65, 65, 65, 65, 65, 65, 65, 65, 65, 65,
    // 50: P … Z [ \ ] ^ _
    65, 65, 65, 65, 65, 65, 65, 65, 65, 65, 65, 16, 16, 16, 32, 16,
    // 60: ` a … o
    32, 129, 129, 129, 129, 129, 129, 129, 129, 129, 129, 129, 129, 129, 129, 129,
    // 70: p … z { | } ~ DEL
    129, 129, 129, 129, 129, 129, 129, 129, 129, 129, 129, 16, 32, 16, 32, 0};
#undef RML_OTHER_8

uint8_t ClassOfCode(char32_t code) {
  if (code < 0x10000) return BmpClasses()[code];
  if (code > 0x10FFFF) return 0;
  return ComputeClass(code);
}

ClassifiedChar ClassifyMultibyte(const char* p, const char* end) {
  static const BmpTable& bmp = BmpClasses();
  const DecodedChar c = DecodeMultibyte(p, end);
  const uint8_t mask = c.code < 0x10000 ? bmp[c.code] : ClassOfCode(c.code);
  return {c.code, static_cast<uint8_t>(c.size), mask};
}

bool IsWordChar(char32_t code) {
  if (code > 0x10FFFF) return false;
  // Letters in circles and squares are symbols, and alphabetic.
  if ((code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
      (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189)) {
    return true;
  }
  if (ClassOfCode(code) & (kLetter | kMark)) return true;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_PC ||
         category == UTF8PROC_CATEGORY_NL;
}

bool IsSurelyNfc(std::string_view text) {
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end) {
    if (static_cast<unsigned char>(*p) < 0xCC) {  // below U+0300 or a continuation byte
      ++p;
      continue;
    }
    const DecodedChar c = DecodeMultibyte(p, end);
    if (!IsNfcInert(c.code)) return false;
    p += c.size;
  }
  return true;
}

std::string Normalize(std::string_view text, NormalForm form) {
  if (form == NormalForm::kNfc && IsSurelyNfc(text)) return std::string(text);
  std::string result;
  result.reserve(text.size());
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end) {
    const char* valid_end = p;
    while (valid_end < end) {
      const DecodedChar c = DecodeChar(valid_end, end);
      if (c.code == kInvalidChar) break;
      valid_end += c.size;
    }
    NormalizeValid({p, static_cast<size_t>(valid_end - p)}, form, &result);
    p = valid_end;
    if (p < end) result.push_back(*p++);
  }
  return result;
}

std::string ToLower(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end) {
    const DecodedChar c = DecodeChar(p, end);
    if (c.code == kInvalidChar) {
      result.push_back(*p);
    } else if (c.code == 0x130) {  // the only character whose lower case is two
      result += "i\xCC\x87";
    } else {
      AppendUtf8(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c.code))),
                 &result);
    }
    p += c.size;
  }
  return result;
}

}  // namespace rml::text
