#include "rml/cli/sampling_options.h"

#include <gtest/gtest.h>

namespace rml::cli {
namespace {

TEST(Unescape, ReplacesWhatLlamaCppReplaces) {
  EXPECT_EQ(Unescape("a\\nb\\tc\\rd"), "a\nb\tc\rd");
  EXPECT_EQ(Unescape("\\\\ \\\" \\'"), "\\ \" '");
  EXPECT_EQ(Unescape("\\x41\\x0a"), "A\n");
}

TEST(Unescape, LeavesTheRestAlone) {
  EXPECT_EQ(Unescape("\\q \\xZZ \\x4"), "\\q \\xZZ \\x4");
  EXPECT_EQ(Unescape("ends in \\"), "ends in \\");
  EXPECT_EQ(Unescape(""), "");
}

TEST(SamplingOptions, ResolveTakesOverWhatWasGiven) {
  SamplingOptions options;
  options.seed = 42;
  options.predict = 7;
  options.stop = {"\\n"};
  const llm::GenerateOptions resolved = options.Resolve();
  EXPECT_EQ(resolved.sampler.seed, 42u);
  EXPECT_EQ(resolved.max_tokens, 7);
  EXPECT_EQ(resolved.stop, std::vector<std::string>{"\n"});
}

TEST(SamplingOptions, WithoutASeedEachRunHasItsOwn) {
  const SamplingOptions options;
  EXPECT_NE(options.Resolve().sampler.seed, options.Resolve().sampler.seed);
  EXPECT_EQ(options.Resolve().max_tokens, -1);
}

}  // namespace
}  // namespace rml::cli
