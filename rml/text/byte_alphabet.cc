#include "rml/text/byte_alphabet.h"

#include <array>

#include "rml/text/utf8.h"

namespace rml::text {
namespace {

constexpr bool StandsForItself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr int kShifted = 68;  // bytes that do not stand for themselves

struct Tables {
  std::array<char16_t, 256> code = {};
  std::array<int16_t, 0x100 + kShifted> byte = {};
};

constexpr Tables MakeTables() {
  Tables tables;
  for (auto& b : tables.byte) b = -1;
  int next = 0x100;
  for (int b = 0; b < 256; ++b) {
    const int code = StandsForItself(b) ? b : next++;
    tables.code[static_cast<size_t>(b)] = static_cast<char16_t>(code);
    tables.byte[static_cast<size_t>(code)] = static_cast<int16_t>(b);
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

}  // namespace

char32_t ByteToAlphabet(uint8_t byte) { return kTables.code[byte]; }

int AlphabetToByte(char32_t code) { return code < kTables.byte.size() ? kTables.byte[code] : -1; }

std::string ToAlphabet(std::string_view bytes) {
  std::string result;
  result.reserve(bytes.size() * 2);
  for (const char byte : bytes) AppendUtf8(ByteToAlphabet(static_cast<uint8_t>(byte)), &result);
  return result;
}

bool AppendFromAlphabet(std::string_view piece, std::string* out) {
  const size_t before = out->size();
  const char* p = piece.data();
  const char* end = p + piece.size();
  while (p < end) {
    const DecodedChar c = DecodeChar(p, end);
    const int byte = AlphabetToByte(c.code);
    if (byte < 0) {
      out->resize(before);
      return false;
    }
    out->push_back(static_cast<char>(byte));
    p += c.size;
  }
  return true;
}

}  // namespace rml::text
