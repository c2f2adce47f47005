#include "rml/text/vocabulary.h"

#include <algorithm>
#include <bit>

#include "rml/text/hash.h"

namespace rml::text {

void Vocabulary::Reserve(size_t count, size_t bytes) {
  text_.reserve(bytes);
  offsets_.reserve(count + 1);
  kinds_.reserve(count);
}

void Vocabulary::Add(std::string_view piece, TokenKind kind) {
  text_.append(piece);
  offsets_.push_back(static_cast<uint32_t>(text_.size()));
  kinds_.push_back(kind);
  max_piece_bytes_ = std::max(max_piece_bytes_, piece.size());
}

core::Status Vocabulary::Index() {
  // Offsets are 32 bits: far more than the texts of any vocabulary, and cheap to check here.
  if (text_.size() > UINT32_MAX) {
    return core::Unsupported("the tokens' texts are longer than 4 GiB together");
  }
  slots_.assign(std::bit_ceil(std::max<size_t>(kinds_.size() * 2, 16)), Slot{0, -1});
  const size_t mask = slots_.size() - 1;
  for (TokenId id = 0; id < size(); ++id) {
    const std::string_view text = piece(id);
    if (text.empty()) continue;
    const uint64_t hash = HashBytes(text);
    const auto check = static_cast<uint32_t>(hash >> 32);
    size_t at = hash & mask;
    while (slots_[at].id >= 0) {
      if (slots_[at].hash == check && piece(slots_[at].id) == text) {
        return core::DataLoss("tokens ", slots_[at].id, " and ", id, " are both '", text, "'");
      }
      at = (at + 1) & mask;
    }
    slots_[at] = {check, id};
  }
  return core::OkStatus();
}

TokenId Vocabulary::Lookup(std::string_view text) const {
  const size_t mask = slots_.size() - 1;
  const uint64_t hash = HashBytes(text);
  const auto check = static_cast<uint32_t>(hash >> 32);
  for (size_t at = hash & mask; slots_[at].id >= 0; at = (at + 1) & mask) {
    if (slots_[at].hash == check && piece(slots_[at].id) == text) return slots_[at].id;
  }
  return -1;
}

std::optional<TokenId> Vocabulary::Find(std::string_view text) const {
  if (slots_.empty() || text.empty()) return std::nullopt;
  const TokenId id = Lookup(text);
  if (id < 0) return std::nullopt;
  return id;
}

}  // namespace rml::text
