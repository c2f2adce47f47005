#include "rml/llm/stop_matcher.h"

#include <gtest/gtest.h>

namespace rml::llm {
namespace {

TEST(StopMatcher, LetsTextThroughWithoutStops) {
  StopMatcher matcher({});
  EXPECT_EQ(matcher.Feed("abc"), "abc");
  EXPECT_EQ(matcher.Flush(), "");
  EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcher, EndsTheTextBeforeTheStop) {
  StopMatcher matcher({"END"});
  EXPECT_EQ(matcher.Feed("hello END more"), "hello ");
  EXPECT_TRUE(matcher.stopped());
  EXPECT_EQ(matcher.Feed("and more"), "");
  EXPECT_EQ(matcher.Flush(), "");
}

TEST(StopMatcher, FindsAStopSpreadOverPieces) {
  StopMatcher matcher({"\nUser:"});
  EXPECT_EQ(matcher.Feed("Hi.\nUs"), "Hi.");
  EXPECT_EQ(matcher.Feed("er"), "");
  EXPECT_EQ(matcher.Feed(": x"), "");
  EXPECT_TRUE(matcher.stopped());
}

TEST(StopMatcher, ReleasesWhatOnlyLookedLikeAStop) {
  StopMatcher matcher({"abcd"});
  EXPECT_EQ(matcher.Feed("xab"), "x");
  EXPECT_EQ(matcher.Feed("ce"), "abce");
  EXPECT_EQ(matcher.Feed("abc"), "");
  EXPECT_EQ(matcher.Flush(), "abc");
  EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcher, TheEarliestOfSeveralStopsWins) {
  StopMatcher matcher({"zz", "bb"});
  EXPECT_EQ(matcher.Feed("aabbzz"), "aa");
}

TEST(StopMatcher, HoldsBackTheLongestPossibleStart) {
  StopMatcher matcher({"aab", "ba"});
  EXPECT_EQ(matcher.Feed("caa"), "c");
  EXPECT_EQ(matcher.Feed("a"), "a");  // "aa" may still begin "aab"
  EXPECT_EQ(matcher.Feed("b"), "");
  EXPECT_TRUE(matcher.stopped());
}

}  // namespace
}  // namespace rml::llm
