#include "rml/kernels/softmax.h"

#include "rml/kernels/float_test_util.h"

namespace rml::kernels {
namespace {

TEST(Exp, IsWithinTwoUlpOverTheWholeRange) {
  std::vector<float> x;
  for (uint32_t bits = 0x2f000000u; bits < 0x42d20000u; bits += 997) {  // 1e-10 to 105
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-std::bit_cast<float>(bits));
  }
  ForEveryIsa([&] {
    std::vector<float> y(x.size());
    Exp(x.data(), static_cast<int64_t>(x.size()), y.data());
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double ulps = UlpsFrom(std::exp(static_cast<double>(x[i])), y[i]);
      ASSERT_LE(ulps, 2.0) << "exp(" << x[i] << ") = " << y[i];
      worst = std::max(worst, ulps);
    }
    testing::Test::RecordProperty(std::string("worst_ulp_") + std::string(IsaName(ActiveIsa())),
                                  std::to_string(worst));
  });
}

TEST(Exp, SaturatesAndKeepsNan) {
  ForEveryIsa([] {
    const float x[] = {0.0f,  -0.0f, INFINITY, -INFINITY, NAN,   88.72283f,
                       88.8f, 1e30f, -103.9f,  -105.0f,   -1e30f};
    float y[11];
    Exp(x, 11, y);
    EXPECT_EQ(y[0], 1.0f);
    EXPECT_EQ(y[1], 1.0f);
    EXPECT_EQ(y[2], INFINITY);
    EXPECT_EQ(y[3], 0.0f);
    EXPECT_TRUE(std::isnan(y[4]));
    EXPECT_TRUE(std::isfinite(y[5]));
    EXPECT_EQ(y[6], INFINITY);
    EXPECT_EQ(y[7], INFINITY);
    EXPECT_EQ(y[8], 1.40129846e-45f);  // the smallest subnormal
    EXPECT_EQ(y[9], 0.0f);
    EXPECT_EQ(y[10], 0.0f);
  });
}

TEST(Softmax, MatchesTheReferenceAtEveryTail) {
  ForEveryIsa([] {
    for (const int64_t n : kTails) {
      for (const SoftmaxOptions options : {SoftmaxOptions{}, SoftmaxOptions{.scale = 0.125f},
                                           SoftmaxOptions{.scale = 2.0f, .soft_cap = 5.0f}}) {
        const std::vector<float> x = TestRandom(5).Vector(n, 20.0f);
        std::vector<float> y(x.size());
        std::vector<float> expected(x.size());
        Softmax(x.data(), n, y.data(), options);
        SoftmaxReference(x.data(), n, expected.data(), options);
        double total = 0;
        for (size_t i = 0; i < x.size(); ++i) {
          // An argument near 20 is rounded by 2^-20: the exponential inherits that.
          EXPECT_NEAR(y[i], expected[i], 4e-6 * expected[i] + 1e-30) << "n " << n << " at " << i;
          total += y[i];
        }
        EXPECT_NEAR(total, 1.0, 1e-6);
        std::vector<float> in_place = x;
        Softmax(in_place.data(), n, in_place.data(), options);
        EXPECT_EQ(BitsOf(in_place), BitsOf(y));
      }
    }
  });
}

TEST(Softmax, LargeInputsDoNotOverflowAndMinusInfinityGetsNothing) {
  ForEveryIsa([] {
    std::vector<float> x = {3e38f, 3e38f, -3e38f, -INFINITY};
    Softmax(x.data(), 4, x.data());
    EXPECT_EQ(x, (std::vector<float>{0.5f, 0.5f, 0.0f, 0.0f}));
    std::vector<float> nothing(9, -INFINITY);
    Softmax(nothing.data(), 9, nothing.data());
    for (const float value : nothing) EXPECT_TRUE(std::isnan(value));
  });
}

}  // namespace
}  // namespace rml::kernels
