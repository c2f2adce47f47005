// MergeTable: the merge rules of a BPE vocabulary, (left id, right id) -> (rank, id of the result),
// in a flat hash table of eight bytes a slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rml/text/hash.h"
#include "rml/text/merge.h"
#include "rml/text/vocabulary.h"

namespace rml::text {

class MergeTable {
 public:
  static constexpr size_t kMaxMerges = (size_t{1} << 24) - 1;

  // Which of two rules for the same pair holds: llama.cpp keeps the first, Hugging Face the last.
  enum class Repeated : uint8_t { kFirstWins, kLastWins };

  // Room for `count` <= kMaxMerges rules; call once, before Add.
  void Reserve(size_t count);
  // Adds the rule of the next rank. Ids are below kMaxVocabularySize; at most Reserve's count.
  void Add(TokenId left, TokenId right, TokenId result, Repeated repeated);

  Merge Find(TokenId left, TokenId right) const {
    if ((left | right) < 0) return {kNoMerge, -1};
    const uint64_t key = Key(left, right);
    for (size_t at = MixHash(key) & mask_;; at = (at + 1) & mask_) {
      const uint64_t slot = slots_[at];
      if (slot >> kRankBits == key && slot != kFree) {
        const auto rank = static_cast<uint32_t>(slot & kRankMask);
        return {rank, results_[rank]};
      }
      if (slot == kFree) return {kNoMerge, -1};
    }
  }

  size_t size() const { return results_.size(); }

 private:
  static constexpr int kRankBits = 24;
  static constexpr uint64_t kRankMask = (uint64_t{1} << kRankBits) - 1;
  static constexpr uint64_t kFree = ~uint64_t{0};  // no rule: its rank would be kMaxMerges

  static uint64_t Key(TokenId left, TokenId right) {
    return static_cast<uint64_t>(left) << 20 | static_cast<uint64_t>(right);
  }

  std::vector<uint64_t> slots_ = {kFree};  // left id : 20, right id : 20, rank : 24
  std::vector<TokenId> results_;           // by rank
  size_t mask_ = 0;
};

}  // namespace rml::text
