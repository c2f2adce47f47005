// UTF-8, the strict form of RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rml::text {

inline constexpr char32_t kReplacementChar = 0xFFFD;
inline constexpr char32_t kInvalidChar = 0xFFFFFFFF;  // what a byte that is no UTF-8 decodes to

struct DecodedChar {
  char32_t code;  // kInvalidChar when the bytes are no character
  uint32_t size;  // bytes taken, >= 1; 1 when invalid
};

// Decodes a character of two bytes or more, or an invalid byte. `p` < `end`.
DecodedChar DecodeMultibyte(const char* p, const char* end);

// The character at `p` < `end`.
inline DecodedChar DecodeChar(const char* p, const char* end) {
  const auto first = static_cast<unsigned char>(*p);
  if (first < 0x80) return {first, 1};
  return DecodeMultibyte(p, end);
}

void AppendUtf8(char32_t code, std::string* out);
bool IsValidUtf8(std::string_view text);

// Every byte that belongs to no character becomes U+FFFD; of a character cut short, all its bytes
// become one (the practice that Unicode recommends, and Rust and Python follow).
std::string ToValidUtf8(std::string_view bytes);

// The number of bytes at the end of `bytes` that start a character and lack its rest: 0 … 3.
size_t IncompleteTail(std::string_view bytes);

}  // namespace rml::text
