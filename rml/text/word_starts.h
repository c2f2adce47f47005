// WordStarts: where a text without pre-tokeniser may be cut before merging. When no token holds '▁'
// after a given byte, no merge can ever reach across that place, so the parts encode independently:
// exactly the same ids, from pieces short enough to be cached.
#pragma once

#include <bitset>
#include <string_view>

#include "rml/text/vocabulary.h"

namespace rml::text {

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581 '▁'

class WordStarts {
 public:
  explicit WordStarts(const Vocabulary& vocabulary);

  // Bytes of the first part of `text` (not empty) that may be encoded alone. Characters are taken
  // by their first byte, as llama.cpp takes them, so invalid text is cut where it would cut it.
  size_t FirstPart(std::string_view text) const;

 private:
  std::bitset<256> joined_;  // bytes that stand before '▁' within some token
};

// How many bytes a character takes by its first byte; 1 for bytes that start none.
inline size_t CharSizeByLead(unsigned char lead) {
  if (lead < 0xC0) return 1;
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

}  // namespace rml::text
