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

  // Bytes of the first part of `text` (not empty) that may be encoded alone.
  size_t FirstPart(std::string_view text) const;

 private:
  std::bitset<256> joined_;  // bytes that stand before '▁' within some token
};

}  // namespace rml::text
