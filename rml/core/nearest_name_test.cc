#include "rml/core/nearest_name.h"

#include <gtest/gtest.h>

namespace rml::core {
namespace {

constexpr std::string_view kNames[] = {"eps", "axes", "keep_dims", "rms_norm", "layer_norm"};

TEST(NearestName, FindsWhatIsFewEditsAway) {
  EXPECT_EQ(NearestName("esp", kNames), "eps");
  EXPECT_EQ(NearestName("keepdims", kNames), "keep_dims");
  EXPECT_EQ(NearestName("rmsnorm", kNames), "rms_norm");
  EXPECT_EQ(NearestName("axis", kNames), "axes");
}

TEST(NearestName, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(NearestName("frequency", kNames), "");
  EXPECT_EQ(NearestName("x", {}), "");
  EXPECT_EQ(DidYouMean("frequency", kNames), "");
  EXPECT_EQ(DidYouMean("esp", kNames), "; did you mean \"eps\"?");
}

}  // namespace
}  // namespace rml::core
