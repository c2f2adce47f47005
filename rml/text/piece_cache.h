// PieceCache: the ids of pieces seen before. A fixed table in which a new piece replaces whatever
// shares its slot, so memory is bounded (1 MiB) and a look-up touches one cache line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "rml/text/hash.h"
#include "rml/text/vocabulary.h"

namespace rml::text {

class PieceCache {
 public:
  static constexpr size_t kMaxBytes = 30;
  static constexpr size_t kMaxIds = 8;

  // Appends the ids of `piece` when they are known.
  bool Get(std::string_view piece, std::vector<TokenId>* out) const {
    if (piece.empty() || piece.size() > kMaxBytes) return false;
    const Entry& entry = entries_[HashBytes(piece) % kEntries];
    if (entry.size != piece.size() || std::memcmp(entry.text, piece.data(), piece.size()) != 0) {
      return false;
    }
    out->insert(out->end(), entry.ids, entry.ids + entry.count);
    return true;
  }

  void Put(std::string_view piece, std::span<const TokenId> ids) {
    if (piece.empty() || piece.size() > kMaxBytes || ids.size() > kMaxIds) return;
    Entry& entry = entries_[HashBytes(piece) % kEntries];
    entry.size = static_cast<uint8_t>(piece.size());
    entry.count = static_cast<uint8_t>(ids.size());
    std::memcpy(entry.text, piece.data(), piece.size());
    std::copy(ids.begin(), ids.end(), entry.ids);
  }

 private:
  static constexpr size_t kEntries = 1 << 14;

  struct alignas(64) Entry {
    uint8_t size = 0;  // bytes of text; 0: free
    uint8_t count = 0;
    char text[kMaxBytes];
    TokenId ids[kMaxIds];
  };

  std::vector<Entry> entries_ = std::vector<Entry>(kEntries);
};

}  // namespace rml::text
