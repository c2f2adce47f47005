#include "rml/kernels/sampling_ops.h"

#include "rml/kernels/float_test_util.h"

namespace rml::kernels {
namespace {

TEST(Argmax, FindsTheLargestWhereverItStands) {
  ForEveryIsa([] {
    for (const int64_t n : kTails) {
      std::vector<float> x = TestRandom(9).Vector(n);
      EXPECT_EQ(Argmax(x.data(), n), ArgmaxReference(x.data(), n));
      for (int64_t at = 0; at < n; ++at) {
        const float kept = std::exchange(x[static_cast<size_t>(at)], 2.0f);
        EXPECT_EQ(Argmax(x.data(), n), at);
        EXPECT_EQ(Max(x.data(), n), 2.0f);
        x[static_cast<size_t>(at)] = kept;
      }
    }
  });
}

TEST(Argmax, TheFirstOfTiesWinsAndNansArePassedOver) {
  ForEveryIsa([] {
    std::vector<float> x(100, -INFINITY);
    EXPECT_EQ(Argmax(x.data(), 100), 0);
    x[70] = x[71] = x[99] = 1.0f;
    x[0] = x[69] = x[72] = NAN;
    EXPECT_EQ(Argmax(x.data(), 100), 70);
    EXPECT_EQ(Max(x.data(), 100), 1.0f);
    std::vector<float> all_nan(20, NAN);
    EXPECT_EQ(Argmax(all_nan.data(), 20), -1);
    EXPECT_EQ(Argmax(nullptr, 0), -1);
    EXPECT_EQ(Max(nullptr, 0), -INFINITY);
    const float signed_zeros[] = {-0.0f, 0.0f};
    EXPECT_EQ(Argmax(signed_zeros, 2), 0);
  });
}

TEST(LogSumExp, MatchesTheReference) {
  ForEveryIsa([] {
    for (const int64_t n : {1, 7, 8, 33, 4095, 4096, 4097, 151936}) {
      for (const float scale : {0.01f, 1.0f, 30.0f, 3e5f}) {
        const std::vector<float> x = TestRandom(21).Vector(n, scale);
        const double expected = LogSumExpReference(x.data(), n);
        EXPECT_NEAR(LogSumExp(x.data(), n), expected, 2e-7 * std::fabs(expected) + 2e-6);
      }
    }
    const float infinite[] = {1.0f, INFINITY};
    EXPECT_EQ(LogSumExp(infinite, 2), INFINITY);
    const float nothing[] = {-INFINITY, -INFINITY};
    EXPECT_EQ(LogSumExp(nothing, 2), -INFINITY);
    EXPECT_EQ(LogSumExp(nullptr, 0), -INFINITY);
  });
}

}  // namespace
}  // namespace rml::kernels
