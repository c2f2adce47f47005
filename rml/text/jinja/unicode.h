// UTF-8 text as Python's str sees it: characters are code points. A byte that is not UTF-8 counts
// as one character and is kept as it is, so no text that a user sends can break a template.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rml::text::jinja {

struct Rune {
  char32_t code;  // U+FFFD for a byte that is not UTF-8
  uint8_t bytes;
};

// The character that starts at text[at]; at < text.size().
Rune DecodeRune(std::string_view text, size_t at);
void AppendRune(char32_t code, std::string* out);
bool IsUtf8(std::string_view text);

bool IsAscii(std::string_view text);
int64_t RuneCount(std::string_view text);
// Where character `index` starts; text.size() when there are no more than `index`.
size_t RuneOffset(std::string_view text, int64_t index);

// Python's str.isspace(), isprintable() … of one character.
bool IsSpace(char32_t code);
bool IsPrintable(char32_t code);
bool IsLetter(char32_t code);
bool IsDecimal(char32_t code);
bool IsDigit(char32_t code);
bool IsNumeric(char32_t code);
bool IsUpper(char32_t code);
bool IsLower(char32_t code);
bool IsTitle(char32_t code);
// A letter, a number or '_': \w of Python's regular expressions.
bool IsWord(char32_t code);
// "\r\n" is two of them.
bool IsLineBreak(char32_t code);

std::string Upper(std::string_view text);
std::string Lower(std::string_view text);
std::string Title(std::string_view text);       // str.title()
std::string Capitalize(std::string_view text);  // str.capitalize()
std::string SwapCase(std::string_view text);
std::string CaseFold(std::string_view text);

// Without the white space at its ends.
std::string_view StripLeft(std::string_view text);
std::string_view StripRight(std::string_view text);

}  // namespace rml::text::jinja
