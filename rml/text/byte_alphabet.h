// The alphabet of byte-level BPE: each of the 256 bytes as one printable character, so that tokens
// can be stored as text. Printable Latin-1 stands for itself; the other 68 bytes are U+0100 onwards
// in order (space is U+0120 'Ġ', newline U+010A 'Ċ').
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rml::text {

char32_t ByteToAlphabet(uint8_t byte);
// The byte that a character stands for, or -1.
int AlphabetToByte(char32_t code);

// `bytes` written in the alphabet.
std::string ToAlphabet(std::string_view bytes);
// Appends the bytes that `piece` stands for; returns false, appending nothing, when it has a
// character outside the alphabet.
bool AppendFromAlphabet(std::string_view piece, std::string* out);

}  // namespace rml::text
