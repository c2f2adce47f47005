#include "rml/text/word_starts.h"

#include "rml/text/utf8.h"

#include <algorithm>

namespace rml::text {

WordStarts::WordStarts(const Vocabulary& vocabulary) {
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const std::string_view piece = vocabulary.piece(id);
    if (piece.size() <= kSpaceMark.size()) continue;
    for (size_t at = piece.find(kSpaceMark, 1); at != std::string_view::npos;
         at = piece.find(kSpaceMark, at + 1)) {
      joined_.set(static_cast<unsigned char>(piece[at - 1]));
    }
  }
}

size_t WordStarts::FirstPart(std::string_view text) const {
  const char* const end = text.data() + text.size();
  // A byte that starts no whole character stands alone: the '▁' behind it stays one.
  size_t at = DecodeChar(text.data(), end).size;
  while (at < text.size()) {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead == 0xE2 && text.substr(at, kSpaceMark.size()) == kSpaceMark &&
        !joined_[static_cast<unsigned char>(text[at - 1])]) {
      return at;
    }
    at += DecodeChar(text.data() + at, end).size;
  }
  return text.size();
}

}  // namespace rml::text
