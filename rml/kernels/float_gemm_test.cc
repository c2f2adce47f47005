#include "rml/kernels/float_gemm.h"

#include <gmock/gmock.h>

#include "rml/core/half.h"
#include "rml/kernels/float_test_util.h"

namespace rml::kernels {
namespace {

using core::DType;

// Weights of a dtype, as bytes.
std::vector<std::byte> WeightBytes(DType dtype, int64_t count, TestRandom& random) {
  const size_t width = dtype == DType::kF32 ? 4 : 2;
  std::vector<std::byte> bytes(static_cast<size_t>(count) * width);
  for (int64_t i = 0; i < count; ++i) {
    const float value = random.Uniform();
    if (dtype == DType::kF32) {
      reinterpret_cast<float*>(bytes.data())[i] = value;
    } else {
      reinterpret_cast<uint16_t*>(bytes.data())[i] =
          dtype == DType::kF16 ? core::F32ToF16(value) : core::F32ToBF16(value);
    }
  }
  return bytes;
}

struct Problem {
  DType dtype;
  int64_t m, rows, cols;
  std::vector<std::byte> w;
  std::vector<float> x;
  int64_t x_stride, y_stride;

  Problem(DType dtype_, int64_t m_, int64_t rows_, int64_t cols_, uint64_t seed = 7)
      : dtype(dtype_), m(m_), rows(rows_), cols(cols_), x_stride(cols_ + 3), y_stride(rows_ + 5) {
    TestRandom random(seed);
    w = WeightBytes(dtype, rows * cols, random);
    x = random.Vector(m * x_stride);
  }

  // Runs the range in pieces that end at the multiples of `piece` rows.
  std::vector<float> Run(int64_t piece, bool accumulate, float initial) const {
    std::vector<float> y(static_cast<size_t>(m * y_stride), initial);
    std::vector<std::byte> scratch(kFloatGemmScratchBytes);
    for (int64_t row = 0; row < rows; row += piece) {
      FloatGemmRange(dtype, w.data(), row, std::min(rows, row + piece), cols, x.data(), x_stride, m,
                     y.data(), y_stride, accumulate, scratch);
    }
    return y;
  }

  // Of the activations as the kernel takes them: a native bf16 product rounds them to bf16 first.
  std::vector<float> Reference(bool accumulate, float initial) const {
    std::vector<float> taken = x;
    if (dtype == DType::kBF16 && m > kFloatGemvMaxM && ActiveIsa() == Isa::kAvx512Bf16) {
      for (float& value : taken) value = core::BF16ToF32(core::F32ToBF16(value));
    }
    std::vector<float> y(static_cast<size_t>(m * y_stride), initial);
    FloatGemmReference(dtype, w.data(), rows, cols, taken.data(), x_stride, m, y.data(), y_stride,
                       accumulate);
    return y;
  }
};

void ExpectNear(const std::vector<float>& actual, const std::vector<float>& expected, int64_t cols,
                double relative) {
  ASSERT_EQ(actual.size(), expected.size());
  // Products are below 1, so partial sums, which are what rounds, walk to about sqrt(cols), and so
  // do their roundings.
  const double bound = relative * (static_cast<double>(cols) + 10.0);
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], bound) << "at " << i;
  }
}

constexpr DType kDTypes[] = {DType::kF32, DType::kF16, DType::kBF16};

TEST(FloatGemm, MatchesTheReferenceAtEveryTailOfColumns) {
  ForEveryIsa([] {
    for (const DType dtype : kDTypes) {
      for (const int64_t cols : kTails) {
        for (const int64_t m : {1, 2, 3, 5, 6, 7, 13}) {
          const Problem p(dtype, m, 19, cols);
          SCOPED_TRACE(testing::Message() << Name(dtype) << " m " << m << " cols " << cols);
          ExpectNear(p.Run(p.rows, false, -9), p.Reference(false, -9), cols, 1e-7);
        }
      }
    }
  });
}

TEST(FloatGemm, MatchesTheReferenceAtEveryTailOfRowsAndActivations) {
  ForEveryIsa([] {
    for (const DType dtype : kDTypes) {
      for (const int64_t rows : {1, 2, 3, 4, 5, 15, 16, 17, 47, 48, 49, 95, 96, 97, 130}) {
        for (const int64_t m : {1, 4, 8, 9, 11, 12, 17, 31}) {
          const Problem p(dtype, m, rows, 37);
          SCOPED_TRACE(testing::Message() << Name(dtype) << " m " << m << " rows " << rows);
          ExpectNear(p.Run(p.rows, true, 2.5f), p.Reference(true, 2.5f), 37, 1e-7);
        }
      }
    }
  });
}

TEST(FloatGemm, MatchesTheReferenceAcrossBlocksOfEveryAxis) {
  ForEveryIsa([] {
    for (const DType dtype : kDTypes) {
      const Problem p(dtype, 200, 203, 531);
      ExpectNear(p.Run(p.rows, false, 0), p.Reference(false, 0), 531, 1e-7);
      ExpectNear(p.Run(p.rows, true, 1), p.Reference(true, 1), 531, 1e-7);
    }
  });
}

TEST(FloatGemm, SplittingTheRowsKeepsTheBits) {
  ForEveryIsa([] {
    for (const DType dtype : kDTypes) {
      for (const int64_t m : {1, 3, 40}) {
        const Problem p(dtype, m, 131, 333);
        const auto whole = BitsOf(p.Run(p.rows, false, 0));
        for (const int64_t piece : {1, 2, 7, 16, 64, 100}) {
          EXPECT_EQ(BitsOf(p.Run(piece, false, 0)), whole)
              << Name(dtype) << " in pieces of " << piece;
        }
      }
    }
  });
}

TEST(FloatGemm, OneRowOfActivationsHasTheSameBitsAmongFew) {
  ForEveryIsa([] {
    const Problem few(DType::kF16, kFloatGemvMaxM, 37, 130);
    const std::vector<float> together = few.Run(few.rows, false, 0);
    for (int64_t i = 0; i < few.m; ++i) {
      std::vector<float> alone(static_cast<size_t>(few.rows));
      FloatGemmRange(few.dtype, few.w.data(), 0, few.rows, few.cols,
                     few.x.data() + i * few.x_stride, few.x_stride, 1, alone.data(), few.rows,
                     false, {});
      for (int64_t r = 0; r < few.rows; ++r) {
        EXPECT_EQ(alone[static_cast<size_t>(r)],
                  together[static_cast<size_t>(i * few.y_stride + r)]);
      }
    }
  });
}

TEST(FloatGemm, WritesNothingOutsideItsRange) {
  ForEveryIsa([] {
    const Problem p(DType::kF32, 9, 50, 40);
    std::vector<float> y(static_cast<size_t>(p.m * p.y_stride), 77.0f);
    std::vector<std::byte> scratch(kFloatGemmScratchBytes);
    FloatGemmRange(p.dtype, p.w.data(), 10, 21, p.cols, p.x.data(), p.x_stride, p.m, y.data(),
                   p.y_stride, false, scratch);
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t r = 0; r < p.y_stride; ++r) {
        const bool inside = r >= 10 && r < 21;
        EXPECT_EQ(y[static_cast<size_t>(i * p.y_stride + r)] == 77.0f, !inside) << i << " " << r;
      }
    }
  });
}

TEST(FloatGemm, NoColumnsGiveZerosAndNoRowsGiveNothing) {
  std::vector<float> y = {1, 2, 3};
  FloatGemmRange(DType::kF32, nullptr, 0, 2, 0, nullptr, 0, 1, y.data(), 3, false, {});
  EXPECT_THAT(y, testing::ElementsAre(0, 0, 3));
  FloatGemmRange(DType::kF32, nullptr, 2, 2, 8, nullptr, 0, 1, y.data(), 3, false, {});
  FloatGemmRange(DType::kF32, nullptr, 0, 3, 0, nullptr, 0, 1, y.data(), 3, true, {});
  EXPECT_THAT(y, testing::ElementsAre(0, 0, 3));
}

TEST(FloatGemm, InfinitiesAndNansOfTheInputsComeThrough) {
  ForEveryIsa([] {
    for (const int64_t m : {1, 12}) {
      Problem p(DType::kF32, m, 20, 40);
      reinterpret_cast<float*>(p.w.data())[3 * p.cols + 5] = std::nanf("");
      p.x[7] = INFINITY;
      const std::vector<float> y = p.Run(p.rows, false, 0);
      EXPECT_TRUE(std::isnan(y[3]));
      EXPECT_TRUE(std::isinf(y[4]));
      if (m > 1) {
        EXPECT_TRUE(std::isfinite(y[static_cast<size_t>(p.y_stride + 4)]));
      }
    }
  });
}

}  // namespace
}  // namespace rml::kernels
