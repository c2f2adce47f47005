#include "rml/kernels/isa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rml::kernels {
namespace {

using ::testing::HasSubstr;

TEST(Isa, SupportedLevelsStartAtTheBaselineAndRise) {
  const auto levels = SupportedIsas();
  ASSERT_FALSE(levels.empty());
  EXPECT_EQ(levels.front(), Isa::kBaseline);
  for (size_t i = 1; i < levels.size(); ++i) EXPECT_LT(levels[i - 1], levels[i]);
}

TEST(Isa, DetectionAgreesWithTheCompilersOwn) {
#if defined(__x86_64__)
  EXPECT_EQ(IsSupported(Isa::kAvx2),
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  EXPECT_EQ(IsSupported(Isa::kAvx512), static_cast<bool>(__builtin_cpu_supports("avx512bw")) &&
                                           __builtin_cpu_supports("avx512vl"));
  EXPECT_FALSE(IsSupported(Isa::kNeon));
#endif
}

TEST(Isa, EverySupportedLevelCanBeAskedForByName) {
  for (const Isa isa : SupportedIsas()) {
    const auto resolved = ResolveIsa(IsaName(isa));
    ASSERT_TRUE(resolved.ok());
    EXPECT_EQ(*resolved, isa);
  }
}

TEST(Isa, AnEmptyRequestMeansTheHighestLevel) {
  EXPECT_EQ(ResolveIsa("").value(), SupportedIsas().back());
}

TEST(Isa, AnUnknownNameIsAnErrorThatListsTheLevels) {
  const auto resolved = ResolveIsa("sse9");
  ASSERT_FALSE(resolved.ok());
  EXPECT_EQ(resolved.error().code(), core::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(resolved.error().message()), HasSubstr("RML_ISA=sse9"));
  EXPECT_THAT(std::string(resolved.error().message()), HasSubstr("avx512bf16"));
}

TEST(Isa, ALevelThatTheMachineLacksIsAnError) {
  const auto resolved = ResolveIsa(IsSupported(Isa::kNeon) ? "avx2" : "neon");
  ASSERT_FALSE(resolved.ok());
  EXPECT_EQ(resolved.error().code(), core::StatusCode::kUnsupported);
}

TEST(Isa, TheScopedOverrideNestsAndEnds) {
  const Isa before = ActiveIsa();
  {
    const ScopedIsa outer(Isa::kBaseline);
    EXPECT_EQ(ActiveIsa(), Isa::kBaseline);
    {
      const ScopedIsa inner(SupportedIsas().back());
      EXPECT_EQ(ActiveIsa(), SupportedIsas().back());
    }
    EXPECT_EQ(ActiveIsa(), Isa::kBaseline);
  }
  EXPECT_EQ(ActiveIsa(), before);
}

}  // namespace
}  // namespace rml::kernels
