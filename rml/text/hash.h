// Hashing of short byte strings for the tables of this folder. Not for anything that is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace rml::text {

inline uint64_t MixHash(uint64_t value) {
  const auto product =
      static_cast<unsigned __int128>(value ^ 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t LoadWord(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

// The last 1 … 8 bytes of a string as one word, without reading past its end.
inline uint64_t LoadTail(const char* p, size_t size) {
  if (size == 8) return LoadWord(p);
  if (size >= 4) {
    uint32_t low, high;
    std::memcpy(&low, p, 4);
    std::memcpy(&high, p + size - 4, 4);
    return static_cast<uint64_t>(high) << 32 | low;
  }
  if (size == 0) return 0;
  const auto byte = [p](size_t i) {
    return static_cast<uint64_t>(static_cast<unsigned char>(p[i]));
  };
  return byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16;
}

inline uint64_t HashBytes(std::string_view bytes) {
  const char* p = bytes.data();
  size_t size = bytes.size();
  uint64_t hash = size * 0xA0761D6478BD642Fu;
  while (size > 8) {
    hash = MixHash(hash ^ LoadWord(p));
    p += 8;
    size -= 8;
  }
  return MixHash(hash ^ LoadTail(p, size));
}

}  // namespace rml::text
