#include "rml/kernels/gates.h"

#include "rml/kernels/elementwise.h"
#include "rml/kernels/float_test_util.h"

namespace rml::kernels {
namespace {

using Vector = void (*)(const float*, int64_t, float*);
using Scalar = double (*)(double);

std::vector<float> Arguments() {
  std::vector<float> x = {0.0f, -0.0f};
  for (float v = -30.0f; v <= 30.0f; v += 0.00371f) x.push_back(v);
  for (float v = 1e-30f; v < 1.0f; v *= 1.7f) {
    x.push_back(v);
    x.push_back(-v);
  }
  return x;
}

void ExpectClose(Vector vector, Scalar scalar, double relative, float from) {
  const std::vector<float> x = Arguments();
  std::vector<float> y(x.size());
  vector(x.data(), static_cast<int64_t>(x.size()), y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = scalar(x[i]);
    const double bound = x[i] < from ? 1e-37 : relative * std::fabs(exact) + 1e-37;
    ASSERT_NEAR(y[i], exact, bound) << "at " << x[i];
  }
}

TEST(Gates, ActivationsMatchTheirDefinitionsInRelativeError) {
  ForEveryIsa([] {
    ExpectClose(Silu, SiluReference, 5e-7, -1e9f);
    // The exponent's argument is rounded, so the relative error grows with its size (up to 87).
    ExpectClose(GeluTanh, GeluTanhReference, 2e-5, -1e9f);
    ExpectClose(GeluErf, GeluErfReference, ActiveIsa() == Isa::kBaseline ? 1e-5 : 2e-6, -1e9f);
  });
}

TEST(Gates, ActivationsAreExactEnoughWhereTheyMatter) {
  ForEveryIsa([] {
    const std::vector<float> x = Arguments();
    for (const auto& [vector, scalar] : {std::pair<Vector, Scalar>{Silu, SiluReference},
                                         {GeluTanh, GeluTanhReference},
                                         {GeluErf, GeluErfReference}}) {
      std::vector<float> y(x.size());
      vector(x.data(), static_cast<int64_t>(x.size()), y.data());
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::fabs(x[i]) > 5.0f) continue;
        ASSERT_NEAR(y[i], scalar(x[i]), 4e-7 * std::fabs(x[i]) + 1e-37) << x[i];
      }
    }
  });
}

TEST(Gates, TheGateMultipliesUpAtEveryTailAndInPlace) {
  ForEveryIsa([] {
    for (const int64_t n : kTails) {
      TestRandom random(2);
      const std::vector<float> gate = random.Vector(n, 4.0f);
      const std::vector<float> up = random.Vector(n, 4.0f);
      const auto check = [&](auto mul, Vector activation) {
        std::vector<float> activated(gate.size());
        activation(gate.data(), n, activated.data());
        std::vector<float> y(gate.size() + 1, 3.0f);
        mul(gate.data(), up.data(), n, y.data());
        EXPECT_EQ(y.back(), 3.0f);
        for (size_t i = 0; i < gate.size(); ++i) EXPECT_EQ(y[i], activated[i] * up[i]);
        std::vector<float> in_place = gate;
        mul(in_place.data(), up.data(), n, in_place.data());
        y.pop_back();
        EXPECT_EQ(BitsOf(in_place), BitsOf(y));
      };
      check(SiluMul, Silu);
      check(GeluTanhMul, GeluTanh);
      check(GeluErfMul, GeluErf);
    }
  });
}

TEST(Gates, NanStaysAndInfinitySaturates) {
  ForEveryIsa([] {
    for (const Vector vector : {Silu, GeluTanh, GeluErf}) {
      const float x[] = {NAN, INFINITY, 1e30f, -1e30f};
      float y[4];
      vector(x, 4, y);
      EXPECT_TRUE(std::isnan(y[0]));
      EXPECT_EQ(y[1], INFINITY);
      EXPECT_EQ(y[2], 1e30f);
      EXPECT_EQ(y[3], 0.0f);
    }
  });
}

TEST(Elementwise, ArithmeticMatchesScalarsAtEveryTail) {
  ForEveryIsa([] {
    for (const int64_t n : kTails) {
      TestRandom random(6);
      const std::vector<float> a = random.Vector(n, 9.0f);
      const std::vector<float> b = random.Vector(n, 9.0f);
      std::vector<float> y(a.size() + 1, 7.0f);
      Add(a.data(), b.data(), n, y.data());
      for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(y[i], a[i] + b[i]);
      Multiply(a.data(), b.data(), n, y.data());
      for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(y[i], a[i] * b[i]);
      Scale(a.data(), 3.7f, n, y.data());
      for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(y[i], a[i] * 3.7f);
      AddScaled(b.data(), 2.0f, n, y.data());
      for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(y[i], a[i] * 3.7f + b[i] * 2.0f, 1e-5f);
      EXPECT_EQ(y.back(), 7.0f);
    }
  });
}

TEST(Elementwise, TanhIsWithinFourUlpAndSoftCapFollowsIt) {
  const std::vector<float> x = Arguments();
  ForEveryIsa([&] {
    std::vector<float> y(x.size());
    Tanh(x.data(), static_cast<int64_t>(x.size()), y.data());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(UlpsFrom(std::tanh(static_cast<double>(x[i])), y[i]), 4.0) << x[i];
    }
    SoftCap(x.data(), 5.0f, static_cast<int64_t>(x.size()), y.data());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(UlpsFrom(5.0 * std::tanh(x[i] / 5.0), y[i]), 6.0) << x[i];
    }
    const float special[] = {INFINITY, -INFINITY, NAN, -0.0f};
    Tanh(special, 4, y.data());
    EXPECT_EQ(y[0], 1.0f);
    EXPECT_EQ(y[1], -1.0f);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_TRUE(std::signbit(y[3]));
  });
}

}  // namespace
}  // namespace rml::kernels
