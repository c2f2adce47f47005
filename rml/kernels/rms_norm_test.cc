#include "rml/kernels/rms_norm.h"

#include "rml/kernels/float_test_util.h"

namespace rml::kernels {
namespace {

TEST(RmsNorm, MatchesTheReferenceAtEveryTail) {
  ForEveryIsa([] {
    for (const int64_t n : kTails) {
      for (const float scale : {1e-4f, 1.0f, 1e15f}) {
        TestRandom random(4);
        const std::vector<float> x = random.Vector(n, scale);
        const std::vector<float> weight = random.Vector(n, 3.0f);
        std::vector<float> y(x.size());
        std::vector<float> expected(x.size());
        RmsNorm(x.data(), weight.data(), 1e-6f, n, y.data());
        RmsNormReference(x.data(), weight.data(), 1e-6f, n, expected.data());
        for (size_t i = 0; i < y.size(); ++i) EXPECT_LE(UlpsFrom(expected[i], y[i]), 6.0);
        std::vector<float> in_place = x;
        RmsNorm(in_place.data(), weight.data(), 1e-6f, n, in_place.data());
        EXPECT_EQ(BitsOf(in_place), BitsOf(y));
      }
    }
  });
}

TEST(RmsNorm, RowsAreNormedOneByOneAndWhatLiesBetweenStays) {
  ForEveryIsa([] {
    TestRandom random(8);
    const int64_t n = 20, stride = 23, rows = 5;
    const std::vector<float> x = random.Vector(rows * stride);
    const std::vector<float> weight = random.Vector(n);
    std::vector<float> y(static_cast<size_t>(rows * 30), 9.0f);
    RmsNormRows(x.data(), weight.data(), 1e-5f, rows, n, stride, y.data(), 30);
    for (int64_t row = 0; row < rows; ++row) {
      std::vector<float> alone(static_cast<size_t>(n));
      RmsNorm(x.data() + row * stride, weight.data(), 1e-5f, n, alone.data());
      for (int64_t i = 0; i < 30; ++i) {
        EXPECT_EQ(y[static_cast<size_t>(row * 30 + i)],
                  i < n ? alone[static_cast<size_t>(i)] : 9.0f);
      }
    }
  });
}

TEST(RmsNorm, ZerosStayZerosThanksToEpsilon) {
  ForEveryIsa([] {
    const std::vector<float> x(10, 0.0f);
    const std::vector<float> weight(10, 1.0f);
    std::vector<float> y(10, 5.0f);
    RmsNorm(x.data(), weight.data(), 1e-6f, 10, y.data());
    EXPECT_EQ(y, x);
  });
}

}  // namespace
}  // namespace rml::kernels
