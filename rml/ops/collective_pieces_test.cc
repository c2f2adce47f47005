// The collectives that move pieces, over a group of threads: values, and gradients against finite
// differences of the sum of every member's loss.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/core/error.h"
#include "rml/ops/eager.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"
#include "rml/ops/testing/group_run.h"

namespace rml::ops {
namespace {

using ::testing::ElementsAre;
using testing::GroupRun;

constexpr int kGroup = 2;

// Member r's x, [2, 4], is 10 · r + 0 … 7, moved by `step` at `place` of member 0; its loss weighs
// the elements of y by (r + 1) · (i + 1).
GroupRun RunGroup(std::string_view op, const ir::AttrList& attributes, double step = 0,
                  size_t place = 0) {
  return testing::RunOnGroup(
      kGroup, op, attributes,
      [&](int r) {
        std::vector<double> content(8);
        for (size_t i = 0; i < content.size(); ++i) content[i] = 10 * r + static_cast<double>(i);
        if (r == 0) content[place] += step;
        return *core::Tensor::FromHost<double>({2, 4}, content, core::Cpu());
      },
      [](int r, int64_t i) { return static_cast<double>((r + 1) * (i + 1)); });
}

TEST(CollectivePieces, AllGatherJoinsInTheOrderOfRanks) {
  const GroupRun rows = RunGroup("all_gather", {{"members", kGroup}});
  EXPECT_THAT(rows.y[1], ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17));
  const GroupRun columns = RunGroup("all_gather", {{"axis", 1}, {"members", kGroup}});
  EXPECT_THAT(columns.y[0], ElementsAre(0, 1, 2, 3, 10, 11, 12, 13, 4, 5, 6, 7, 14, 15, 16, 17));
}

TEST(CollectivePieces, ReduceScatterGivesEachItsPiece) {
  const GroupRun result = RunGroup("reduce_scatter", {{"axis", 1}, {"members", kGroup}});
  EXPECT_THAT(result.y[0], ElementsAre(10, 12, 18, 20));
  EXPECT_THAT(result.y[1], ElementsAre(14, 16, 22, 24));
  EXPECT_THAT(RunGroup("reduce_scatter", {{"members", kGroup}, {"op", "max"}}).y[1],
              ElementsAre(14, 15, 16, 17));
}

TEST(CollectivePieces, AllToAllTurnsASplitOfOneAxisIntoThatOfAnother) {
  const GroupRun result =
      RunGroup("all_to_all", {{"split_axis", 1}, {"concat_axis", 0}, {"members", kGroup}});
  EXPECT_THAT(result.y[0], ElementsAre(0, 1, 4, 5, 10, 11, 14, 15));
  EXPECT_THAT(result.y[1], ElementsAre(2, 3, 6, 7, 12, 13, 16, 17));
}

TEST(CollectivePieces, BroadcastGivesTheRootsAndReduceTheSum) {
  EXPECT_THAT(RunGroup("collective_broadcast", {{"root", 1}}).y[0],
              ElementsAre(10, 11, 12, 13, 14, 15, 16, 17));
  const GroupRun sum = RunGroup("collective_reduce", {{"root", 1}});
  EXPECT_THAT(sum.y[0], ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(sum.y[1], ElementsAre(10, 12, 14, 16, 18, 20, 22, 24));
}

TEST(CollectivePieces, GradientsAreThoseOfTheSumOfLosses) {
  const std::vector<std::pair<std::string_view, ir::AttrList>> calls = {
      {"all_gather", {{"axis", 1}, {"members", kGroup}}},
      {"reduce_scatter", {{"axis", 1}, {"members", kGroup}}},
      {"reduce_scatter", {{"members", kGroup}, {"op", "max"}}},
      {"reduce_scatter", {{"members", kGroup}, {"op", "min"}}},
      {"reduce_scatter", {{"members", kGroup}, {"op", "prod"}}},
      {"all_to_all", {{"split_axis", 1}, {"concat_axis", 0}, {"members", kGroup}}},
      {"all_to_all", {{"split_axis", 0}, {"concat_axis", 1}, {"members", kGroup}}},
      {"collective_broadcast", {{"root", 0}}},
      {"collective_broadcast", {{"root", 1}}},
      {"collective_reduce", {{"root", 1}}},
  };
  for (const auto& [op, attributes] : calls) {
    const GroupRun found = RunGroup(op, attributes);
    // Place 0 holds a zero, which the gradient of a product would divide by.
    for (const size_t place : {1, 2, 5, 7}) {
      const double expected = (RunGroup(op, attributes, 1e-4, place).loss -
                               RunGroup(op, attributes, -1e-4, place).loss) /
                              2e-4;
      EXPECT_NEAR(found.gradient[0][place], expected, 1e-6 * (1 + std::abs(expected)))
          << op << " at " << place;
    }
  }
}

TEST(CollectivePieces, AGroupOfAnotherSizeIsAnError) {
  const core::RunContext context;
  EagerBuilder eager(context, {&ReferenceProvider()}, BuiltinOps());
  const Emit e(eager);
  try {
    e.one("all_gather", {e.full(1, {core::DType::kF32, {2}})}, {{"members", 3}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "all_gather: the group of this run has 1 members, expected 3");
  }
}

}  // namespace
}  // namespace rml::ops
