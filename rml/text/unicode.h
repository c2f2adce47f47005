// Unicode 15 properties and normal forms, as the patterns in tokenizers use them (\p{L}, \p{N}, \s
// …).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rml/text/utf8.h"

namespace rml::text {

// The properties of a character, as bits. An invalid byte has none.
enum CharClass : uint8_t {
  kLetter = 1,        // \p{L}
  kNumber = 2,        // \p{N}
  kSpace = 4,         // White_Space, which is what \s means
  kMark = 8,          // \p{M}
  kPunctuation = 16,  // \p{P}
  kSymbol = 32,       // \p{S}
  kUpper = 64,        // \p{Lu} or \p{Lt}
  kLower = 128,       // \p{Ll}
};

uint8_t ClassOfCode(char32_t code);  // any code point; 0 for kInvalidChar

struct ClassifiedChar {
  char32_t code;
  uint8_t size;  // bytes
  uint8_t mask;  // CharClass bits
};

extern const uint8_t kAsciiClass[128];
ClassifiedChar ClassifyMultibyte(const char* p, const char* end);

// The character at `p` < `end`, with its properties.
inline ClassifiedChar Classify(const char* p, const char* end) {
  const auto first = static_cast<unsigned char>(*p);
  if (first < 0x80) return {first, 1, kAsciiClass[first]};
  return ClassifyMultibyte(p, end);
}

// \w: what is alphabetic, marks, decimal digits and connectors.
bool IsWordChar(char32_t code);

enum class NormalForm : uint8_t { kNfc, kNfd, kNfkc, kNfkd };

// The normal form of `text`; bytes that are no UTF-8 stay as they are. Linear but for sorting the
// marks of one base character.
std::string Normalize(std::string_view text, NormalForm form);
// Whether `text` is certainly in NFC already: a cheap test that may say no for text that is.
bool IsSurelyNfc(std::string_view text);

// Lower case by the default full mapping, character by character.
std::string ToLower(std::string_view text);

}  // namespace rml::text
