// The merge loop of BPE: joins neighbouring symbols, always the pair of lowest rank and of those
// the leftmost, until no pair may be joined. Short pieces scan an array; long ones use a heap over
// a linked list, so that n symbols cost O(n log n) whatever the text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "rml/text/vocabulary.h"

namespace rml::text {

inline constexpr uint32_t kNoMerge = UINT32_MAX;

struct Symbol {
  TokenId id;
  uint32_t begin;  // the bytes of the piece that it covers
  uint32_t end;
};

// What joining two symbols gives; rank is kNoMerge when they may not be joined.
struct Merge {
  uint32_t rank;
  TokenId id;
};

struct MergeScratch {
  std::vector<Symbol> symbols;
  std::vector<Merge> pairs;    // pairs[i]: symbol i with the one after it
  std::vector<uint32_t> next;  // index of the symbol after i; size() at the end
  std::vector<uint32_t> previous;
  std::vector<uint64_t> heap;  // rank << 32 | index of the left symbol
};

namespace internal {

inline constexpr size_t kShortPiece = 40;  // symbols; measured: the heap wins above

template <typename FindMerge>
void MergeShort(MergeScratch& scratch, const FindMerge& find) {
  std::vector<Symbol>& symbols = scratch.symbols;
  Merge pairs[kShortPiece];
  size_t count = symbols.size();
  for (size_t i = 0; i + 1 < count; ++i) pairs[i] = find(symbols[i], symbols[i + 1]);
  pairs[count - 1] = {kNoMerge, -1};
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (pairs[i].rank < pairs[best].rank) best = i;
    }
    if (pairs[best].rank == kNoMerge) break;
    symbols[best].id = pairs[best].id;
    symbols[best].end = symbols[best + 1].end;
    for (size_t i = best + 1; i + 1 < count; ++i) {
      symbols[i] = symbols[i + 1];
      pairs[i] = pairs[i + 1];
    }
    --count;
    if (best > 0) pairs[best - 1] = find(symbols[best - 1], symbols[best]);
    if (best + 1 < count) pairs[best] = find(symbols[best], symbols[best + 1]);
  }
  symbols.resize(count);
}

template <typename FindMerge>
void MergeLong(MergeScratch& scratch, const FindMerge& find) {
  std::vector<Symbol>& symbols = scratch.symbols;
  const auto count = static_cast<uint32_t>(symbols.size());
  std::vector<Merge>& pairs = scratch.pairs;
  std::vector<uint32_t>& next = scratch.next;
  std::vector<uint32_t>& previous = scratch.previous;
  std::vector<uint64_t>& heap = scratch.heap;
  pairs.resize(count);
  next.resize(count);
  previous.resize(count);
  heap.clear();
  const auto key = [&](uint32_t i) { return static_cast<uint64_t>(pairs[i].rank) << 32 | i; };
  for (uint32_t i = 0; i < count; ++i) {
    next[i] = i + 1;
    previous[i] = i - 1;  // wraps for the first, which is never asked
    pairs[i] = i + 1 < count ? find(symbols[i], symbols[i + 1]) : Merge{kNoMerge, -1};
    if (pairs[i].rank != kNoMerge) heap.push_back(key(i));
  }
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  const auto update = [&](uint32_t i) {
    pairs[i] = next[i] < count ? find(symbols[i], symbols[next[i]]) : Merge{kNoMerge, -1};
    if (pairs[i].rank == kNoMerge) return;
    heap.push_back(key(i));
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  while (!heap.empty()) {
    const uint64_t top = heap.front();
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    heap.pop_back();
    const auto left = static_cast<uint32_t>(top);
    // An entry is stale when its left symbol has been swallowed (its pair is cleared below) or now
    // has another neighbour. One of the same rank is as good as the entry for the new pair.
    if (pairs[left].rank != top >> 32) continue;
    const uint32_t right = next[left];
    symbols[left].id = pairs[left].id;
    symbols[left].end = symbols[right].end;
    pairs[right].rank = kNoMerge;
    next[left] = next[right];
    if (next[left] < count) previous[next[left]] = left;
    if (left > 0) update(previous[left]);
    update(left);
  }
  size_t kept = 0;
  for (uint32_t i = 0; i < count; i = next[i]) symbols[kept++] = symbols[i];
  symbols.resize(kept);
}

}  // namespace internal

// `find(left, right)` gives the Merge of two symbols. Works on scratch.symbols in place.
template <typename FindMerge>
void MergeSymbols(MergeScratch& scratch, const FindMerge& find) {
  if (scratch.symbols.size() < 2) return;
  if (scratch.symbols.size() <= internal::kShortPiece) {
    internal::MergeShort(scratch, find);
  } else {
    internal::MergeLong(scratch, find);
  }
}

}  // namespace rml::text
