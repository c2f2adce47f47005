#include "rml/text/merge_table.h"

#include <algorithm>
#include <bit>

#include "rml/core/check.h"

namespace rml::text {

void MergeTable::Reserve(size_t count) {
  RML_CHECK(count <= kMaxMerges && results_.empty());
  slots_.assign(std::bit_ceil(std::max<size_t>(count * 2, 2)), kFree);
  mask_ = slots_.size() - 1;
  results_.reserve(count);
}

void MergeTable::Add(TokenId left, TokenId right, TokenId result, Repeated repeated) {
  RML_CHECK(results_.size() * 2 < slots_.size());
  const uint64_t key = Key(left, right);
  const auto rank = static_cast<uint64_t>(results_.size());
  results_.push_back(result);
  size_t at = MixHash(key) & mask_;
  while (slots_[at] != kFree) {
    if (slots_[at] >> kRankBits == key) {
      if (repeated == Repeated::kLastWins) slots_[at] = key << kRankBits | rank;
      return;
    }
    at = (at + 1) & mask_;
  }
  slots_[at] = key << kRankBits | rank;
}

}  // namespace rml::text
