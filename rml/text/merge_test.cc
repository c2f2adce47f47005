#include "rml/text/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "rml/text/merge_table.h"
#include "rml/text/test_support.h"

namespace rml::text {
namespace {

// Joins the pair of lowest rank, the leftmost of equals, searching all pairs every time.
template <typename FindMerge>
std::vector<TokenId> MergeNaively(std::vector<Symbol> symbols, const FindMerge& find) {
  for (;;) {
    size_t best = 0;
    Merge merge{kNoMerge, -1};
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const Merge candidate = find(symbols[i], symbols[i + 1]);
      if (candidate.rank < merge.rank) {
        merge = candidate;
        best = i;
      }
    }
    if (merge.rank == kNoMerge) break;
    symbols[best].id = merge.id;
    symbols[best].end = symbols[best + 1].end;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  std::vector<TokenId> ids;
  for (const Symbol& symbol : symbols) ids.push_back(symbol.id);
  return ids;
}

TEST(Merge, ShortAndLongAndNaiveLoopsAgree) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    // Random rules over few ids, so that pairs of equal rank and stale entries are common.
    MergeTable table;
    table.Reserve(60);
    std::uniform_int_distribution<TokenId> id(0, 12);
    for (TokenId i = 0; i < 60; ++i) {
      table.Add(id(random), id(random), id(random), MergeTable::Repeated::kFirstWins);
    }
    const bool equal_ranks = round % 3 == 0;
    const auto find = [&](const Symbol& left, const Symbol& right) {
      Merge merge = table.Find(left.id, right.id);
      if (equal_ranks && merge.rank != kNoMerge) merge.rank /= 16;
      return merge;
    };
    const size_t count = std::uniform_int_distribution<size_t>(2, internal::kShortPiece)(random);
    MergeScratch scratch;
    for (uint32_t i = 0; i < count; ++i) scratch.symbols.push_back({id(random) % 4, i, i + 1});
    const std::vector<Symbol> symbols = scratch.symbols;
    const std::vector<TokenId> expected = MergeNaively(symbols, find);

    const auto ids = [&] {
      std::vector<TokenId> result;
      for (const Symbol& symbol : scratch.symbols) result.push_back(symbol.id);
      return result;
    };
    internal::MergeShort(scratch, find);
    ASSERT_EQ(ids(), expected);
    ASSERT_EQ(scratch.symbols.front().begin, 0u);
    ASSERT_EQ(scratch.symbols.back().end, count);
    scratch.symbols = symbols;
    internal::MergeLong(scratch, find);
    ASSERT_EQ(ids(), expected);
    ASSERT_EQ(scratch.symbols.back().end, count);
  }
}

TEST(MergeTable, RepeatedRulesFollowThePolicy) {
  for (const auto policy : {MergeTable::Repeated::kFirstWins, MergeTable::Repeated::kLastWins}) {
    MergeTable table;
    table.Reserve(3);
    table.Add(1, 2, 10, policy);
    table.Add(3, 4, 11, policy);
    table.Add(1, 2, 12, policy);
    const bool first = policy == MergeTable::Repeated::kFirstWins;
    EXPECT_EQ(table.Find(1, 2).rank, first ? 0u : 2u);
    EXPECT_EQ(table.Find(1, 2).id, first ? 10 : 12);
    EXPECT_EQ(table.Find(3, 4).id, 11);
    EXPECT_EQ(table.Find(2, 1).rank, kNoMerge);
    EXPECT_EQ(table.Find(-1, 2).rank, kNoMerge);
  }
}

TEST(MergeTable, AnEmptyTableFindsNothing) { EXPECT_EQ(MergeTable().Find(0, 0).rank, kNoMerge); }

TEST(MergeTable, TheLargestIdsFit) {
  MergeTable table;
  table.Reserve(1);
  table.Add(kMaxVocabularySize - 1, kMaxVocabularySize - 1, 5, MergeTable::Repeated::kFirstWins);
  EXPECT_EQ(table.Find(kMaxVocabularySize - 1, kMaxVocabularySize - 1).id, 5);
}

}  // namespace
}  // namespace rml::text
