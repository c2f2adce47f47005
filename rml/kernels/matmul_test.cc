// Every dtype at every supported ISA level, over shapes whose rows, columns and activation rows
// leave tails, against f64 products of the dequantised weights.
#include "rml/kernels/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "rml/kernels/isa.h"
#include "rml/kernels/qgemm_kernels.h"
#include "rml/quant/blocks.h"
#include "rml/quant/dequantize.h"
#include "rml/quant/quantize.h"

namespace rml::kernels {
namespace {

using core::DType;

constexpr DType kWeightDTypes[] = {DType::kF32,  DType::kF16,  DType::kBF16, DType::kQ4_0,
                                   DType::kQ4_1, DType::kQ5_0, DType::kQ5_1, DType::kQ8_0,
                                   DType::kQ4_K, DType::kQ5_K, DType::kQ6_K};

std::vector<float> Normals(int64_t count, uint32_t seed, float mean = 0.0f) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(mean, 1.0f);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(generator);
  return values;
}

struct Weights {
  std::vector<char> bytes;
  WeightMatrix matrix;
  std::vector<float> values;  // [rows, cols]
};

Weights FromBytes(DType dtype, int64_t rows, int64_t cols, std::vector<char> bytes) {
  Weights w;
  w.bytes = std::move(bytes);
  w.values.resize(static_cast<size_t>(rows * cols));
  quant::Dequantize(dtype, w.bytes.data(), rows * cols, w.values.data());
  w.matrix = WeightMatrix::Make(dtype, rows, cols, w.bytes.data()).value();
  return w;
}

Weights RandomWeights(DType dtype, int64_t rows, int64_t cols, uint32_t seed) {
  const auto values = Normals(rows * cols, seed, 0.1f);
  std::vector<char> bytes(static_cast<size_t>(*core::StorageBytes(dtype, rows * cols)));
  quant::Quantize(dtype, values.data(), rows * cols, bytes.data());
  return FromBytes(dtype, rows, cols, std::move(bytes));
}

std::vector<float> Multiply(const std::vector<MatMulTask>& tasks, const std::vector<float>& x,
                            int64_t m, int threads) {
  core::ThreadPool pool(threads);
  const int64_t cols = tasks[0].weight->cols();
  std::vector<std::byte> workspace(MatMulWorkspaceBytes(m, cols, threads));
  MatMul(tasks, x.data(), cols, m, workspace, pool);
  return {};
}

std::vector<float> Multiply(const WeightMatrix& w, const std::vector<float>& x, int64_t m,
                            int threads = 1) {
  std::vector<float> y(static_cast<size_t>(m * w.rows()), -7.0f);
  Multiply({{.weight = &w, .y = y.data(), .y_stride = w.rows()}}, x, m, threads);
  return y;
}

// How far y may lie from the exact product. Rounding x to 8 bits moves each element by at most half
// a step, max|x| / 254 of its block; sums of n terms in f32 lose at most n units in the last place
// of the sum of magnitudes, which offsets and minima can raise to a few times that of the product.
double ErrorBound(DType dtype, const float* w, const float* x, int64_t cols, Isa isa) {
  const int block = core::Info(dtype).block_elements;
  double bound = 0;
  double magnitude = 0;
  for (int64_t b = 0; b < cols; b += block) {
    const int64_t end = std::min<int64_t>(cols, b + block);
    double max_x = 0;
    double sum_w = 0;
    double max_w = 0;
    for (int64_t j = b; j < end; ++j) {
      max_x = std::max<double>(max_x, std::fabs(x[j]));
      max_w = std::max<double>(max_w, std::fabs(w[j]));
      sum_w += std::fabs(static_cast<double>(w[j]));
      magnitude += std::fabs(static_cast<double>(w[j]) * static_cast<double>(x[j]));
    }
    if (core::IsQuantized(dtype)) {
      bound += sum_w * max_x * (1.0 / 254) * 1.0001;
      magnitude += 4 * max_w * max_x * block;
    }
  }
  const bool rounds_x = dtype == DType::kBF16 && isa == Isa::kAvx512Bf16;
  const double unit = rounds_x ? 0x1p-9 : 0x1p-24;
  return bound + static_cast<double>(cols / block + 16) * unit * magnitude + 1e-30;
}

class MatMulDType : public testing::TestWithParam<DType> {};

TEST_P(MatMulDType, EveryShapeAtEveryIsaLiesWithinTheAnalyticBound) {
  const DType dtype = GetParam();
  const int64_t unit = core::Info(dtype).block_elements == 256 ? 256 : 32;
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    for (const int64_t rows : {1, 3, 7, 8, 9, 15, 16, 17, 33, 130}) {
      for (const int64_t units : {1, 2, 3, 5, 9, 18}) {
        const int64_t cols = units * unit;
        if (cols > 1280) continue;
        const Weights w = RandomWeights(dtype, rows, cols, static_cast<uint32_t>(rows + cols));
        for (const int64_t m : {1, 2, 3, 4, 5, 8, 17}) {
          const auto x = Normals(m * cols, static_cast<uint32_t>(m), 0.2f);
          const auto y = Multiply(w.matrix, x, m);
          for (int64_t i = 0; i < m; ++i) {
            for (int64_t r = 0; r < rows; ++r) {
              const float* wr = w.values.data() + r * cols;
              const float* xi = x.data() + i * cols;
              double want = 0;
              for (int64_t j = 0; j < cols; ++j) {
                want += static_cast<double>(wr[j]) * static_cast<double>(xi[j]);
              }
              ASSERT_NEAR(y[static_cast<size_t>(i * rows + r)], want,
                          ErrorBound(dtype, wr, xi, cols, isa))
                  << IsaName(isa) << " rows " << rows << " cols " << cols << " m " << m << " at ["
                  << i << ", " << r << "]";
            }
          }
        }
      }
    }
  }
}

TEST_P(MatMulDType, AnyNumberOfThreadsGivesTheSameBits) {
  const DType dtype = GetParam();
  const Weights w = RandomWeights(dtype, 203, 768, 5);
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    for (const int64_t m : {1, 2, 33}) {
      const auto x = Normals(m * 768, 6);
      const auto one = Multiply(w.matrix, x, m, 1);
      for (const int threads : {2, 3}) {
        const auto many = Multiply(w.matrix, x, m, threads);
        ASSERT_EQ(std::memcmp(one.data(), many.data(), one.size() * sizeof(float)), 0)
            << IsaName(isa) << " m " << m << " threads " << threads;
      }
    }
  }
}

TEST_P(MatMulDType, RowsOfXDoNotInfluenceEachOther) {
  // The same row of x at any place of a larger batch gives the same bits.
  const DType dtype = GetParam();
  if (!core::IsQuantized(dtype)) return;  // float_gemm_test.cc covers float weights;
  const Weights w = RandomWeights(dtype, 40, 768, 8);
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    const auto row = Normals(768, 9);
    auto batch = Normals(7 * 768, 10);
    for (int place = 0; place < 7; ++place) {
      std::copy(row.begin(), row.end(), batch.begin() + place * 768);
    }
    const auto y = Multiply(w.matrix, batch, 7);
    for (int place = 1; place < 7; ++place) {
      ASSERT_EQ(std::memcmp(y.data(), y.data() + 40 * place, 40 * sizeof(float)), 0)
          << IsaName(isa);
    }
  }
}

TEST_P(MatMulDType, AccumulateAddsToWhatIsThere) {
  const DType dtype = GetParam();
  const Weights w = RandomWeights(dtype, 35, 512, 11);
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    for (const int64_t m : {1, 6}) {
      const auto x = Normals(m * 512, 12);
      const auto plain = Multiply(w.matrix, x, m);
      auto y = Normals(m * 35, 13);
      const auto before = y;
      Multiply({{.weight = &w.matrix, .y = y.data(), .y_stride = 35, .accumulate = true}}, x, m, 2);
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_NEAR(y[i], before[i] + plain[i], 1e-4 * (1 + std::fabs(plain[i]))) << IsaName(isa);
      }
    }
  }
}

TEST_P(MatMulDType, AStrideLeavesTheGapsAlone) {
  const Weights w = RandomWeights(GetParam(), 5, 256, 14);
  for (const int64_t m : {1, 3}) {
    const auto x = Normals(m * 256, 15);
    std::vector<float> y(static_cast<size_t>(m * 9), -3.0f);
    Multiply({{.weight = &w.matrix, .y = y.data(), .y_stride = 9}}, x, m, 1);
    const auto dense = Multiply(w.matrix, x, m);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t r = 0; r < 9; ++r) {
        const float got = y[static_cast<size_t>(i * 9 + r)];
        EXPECT_EQ(got, r < 5 ? dense[static_cast<size_t>(i * 5 + r)] : -3.0f);
      }
    }
  }
}

TEST_P(MatMulDType, MoreRowsOfXThanOnePassTakesGiveTheSameBitsAsThePasses) {
  const DType dtype = GetParam();
  if (!core::IsQuantized(dtype)) return;  // float weights choose a kernel by m
  const Weights w = RandomWeights(dtype, 17, 256, 16);
  const int64_t m = 512 + 3;
  const auto x = Normals(m * 256, 17);
  const auto all = Multiply(w.matrix, x, m, 2);
  const std::vector<float> tail_x(x.begin() + 512 * 256, x.end());
  const auto tail = Multiply(w.matrix, tail_x, 3);
  EXPECT_EQ(std::memcmp(all.data() + 512 * 17, tail.data(), tail.size() * sizeof(float)), 0);
}

TEST_P(MatMulDType, ZerosGiveZeros) {
  const Weights w = RandomWeights(GetParam(), 20, 512, 18);
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    for (const int64_t m : {1, 4}) {
      const std::vector<float> x(static_cast<size_t>(m * 512), 0.0f);
      for (const float y : Multiply(w.matrix, x, m)) EXPECT_EQ(y, 0.0f) << IsaName(isa);
    }
  }
}

TEST_P(MatMulDType, NotANumberInXReachesTheRowsThatReadIt) {
  const Weights w = RandomWeights(GetParam(), 20, 512, 19);
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      for (const int at : {0, 31, 32, 300, 511}) {
        for (const int64_t m : {1, 3}) {
          auto x = Normals(m * 512, 20);
          x[static_cast<size_t>(at)] = bad;
          const auto y = Multiply(w.matrix, x, m);
          for (int r = 0; r < 20; ++r) {
            EXPECT_FALSE(std::isfinite(y[static_cast<size_t>(r)])) << IsaName(isa) << " at " << at;
          }
          for (size_t i = 20; i < y.size(); ++i) EXPECT_TRUE(std::isfinite(y[i]));
        }
      }
    }
  }
}

TEST_P(MatMulDType, DequantizeRowIsThatRow) {
  const Weights w = RandomWeights(GetParam(), 6, 512, 21);
  for (int64_t row = 0; row < 6; ++row) {
    std::vector<float> out(512);
    DequantizeRow(w.matrix, row, out.data());
    EXPECT_EQ(std::memcmp(out.data(), w.values.data() + row * 512, 512 * sizeof(float)), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatMulDType, testing::ValuesIn(kWeightDTypes),
                         [](const auto& tested) { return std::string(core::Name(tested.param)); });

// ---- Exactness ----

// Sets every code of a block to its largest (all bits one) or smallest (all zero), scales to one.
std::vector<char> ExtremeBlocks(DType dtype, int64_t rows, int64_t cols, bool largest) {
  const core::DTypeInfo& info = core::Info(dtype);
  const auto block_bytes = static_cast<size_t>(info.block_bytes);
  std::vector<char> block(block_bytes, largest ? static_cast<char>(0xff) : char{0});
  const uint16_t one = 0x3c00;
  const uint16_t zero = 0;
  const auto put = [&](size_t at, uint16_t half) { std::memcpy(block.data() + at, &half, 2); };
  switch (dtype) {
    case DType::kQ4_1:
    case DType::kQ5_1:
      put(0, one);
      put(2, zero);
      break;
    case DType::kQ6_K:
      put(offsetof(quant::BlockQ6_K, d), one);
      std::memset(block.data() + offsetof(quant::BlockQ6_K, scales), largest ? 0x7f : 0x80, 16);
      break;
    case DType::kQ4_K:
    case DType::kQ5_K:
      put(0, one);
      put(2, one);
      std::memset(block.data() + 4, 0xff, 12);  // scales and minima of 63
      break;
    case DType::kQ8_0:
      put(0, one);
      std::memset(block.data() + 2, largest ? 0x7f : 0x80, 32);  // 127 or -128
      break;
    default:
      put(0, one);
      break;
  }
  std::vector<char> bytes;
  for (int64_t i = 0; i < rows * cols / info.block_elements; ++i) {
    bytes.insert(bytes.end(), block.begin(), block.end());
  }
  return bytes;
}

TEST_P(MatMulDType, TheLargestCodesDoNotOverflow) {
  const DType dtype = GetParam();
  if (!core::IsQuantized(dtype)) return;
  constexpr int64_t kRows = 18;
  constexpr int64_t kCols = 768;
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    for (const bool largest : {false, true}) {
      const Weights w = FromBytes(dtype, kRows, kCols, ExtremeBlocks(dtype, kRows, kCols, largest));
      for (const float sign : {1.0f, -1.0f}) {
        for (const int64_t m : {1, 2, 5}) {
          // All codes of x are ±127 with scale 1: products and sums are integers.
          const std::vector<float> x(static_cast<size_t>(m * kCols), sign * 127.0f);
          double want = 0;
          double magnitude = 0;
          for (int64_t j = 0; j < kCols; ++j) {
            want += static_cast<double>(w.values[static_cast<size_t>(j)]) *
                    static_cast<double>(sign) * 127;
            magnitude += std::fabs(static_cast<double>(w.values[static_cast<size_t>(j)])) * 127;
          }
          for (const float y : Multiply(w.matrix, x, m)) {
            ASSERT_NEAR(y, want, magnitude * 1e-5 + 1)
                << IsaName(isa) << " m " << m << " largest " << largest << " sign " << sign;
          }
        }
      }
    }
  }
}

TEST_P(MatMulDType, OnExactlyRepresentableXOnlyF32RoundingRemains) {
  // x has integer elements with ±127 in each block, so that its codes are exact: what is left of
  // the bound is the rounding of a few f32 operations per block.
  const DType dtype = GetParam();
  if (!core::IsQuantized(dtype)) return;  // x is not rounded
  constexpr int64_t kRows = 37;
  constexpr int64_t kCols = 1280;
  const Weights w = RandomWeights(dtype, kRows, kCols, 22);
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    for (const int64_t m : {1, 9}) {
      std::mt19937 generator(23);
      std::vector<float> x(static_cast<size_t>(m * kCols));
      for (size_t j = 0; j < x.size(); ++j) {
        x[j] = j % 32 == 3 ? 127.0f : static_cast<float>(static_cast<int>(generator() % 255) - 127);
      }
      const auto y = Multiply(w.matrix, x, m);
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t r = 0; r < kRows; ++r) {
          double want = 0;
          double magnitude = 0;
          for (int64_t j = 0; j < kCols; ++j) {
            const double product =
                static_cast<double>(w.values[static_cast<size_t>(r * kCols + j)]) *
                static_cast<double>(x[static_cast<size_t>(i * kCols + j)]);
            want += product;
            magnitude += std::fabs(product);
          }
          ASSERT_NEAR(y[static_cast<size_t>(i * kRows + r)], want, 2e-6 * magnitude)
              << IsaName(isa) << " m " << m << " row " << r;
        }
      }
    }
  }
}

TEST(MatMul, TasksOfDifferentTypesShareX) {
  const int64_t cols = 512;
  const Weights a = RandomWeights(DType::kQ4_K, 20, cols, 30);
  const Weights b = RandomWeights(DType::kQ5_0, 7, cols, 31);
  const Weights c = RandomWeights(DType::kF16, 33, cols, 32);
  for (const int64_t m : {1, 4}) {
    const auto x = Normals(m * cols, 33);
    std::vector<float> ya(static_cast<size_t>(m * 20)), yb(static_cast<size_t>(m * 7)),
        yc(static_cast<size_t>(m * 33));
    Multiply({{.weight = &a.matrix, .y = ya.data(), .y_stride = 20},
              {.weight = &b.matrix, .y = yb.data(), .y_stride = 7},
              {.weight = &c.matrix, .y = yc.data(), .y_stride = 33}},
             x, m, 2);
    EXPECT_EQ(ya, Multiply(a.matrix, x, m));
    EXPECT_EQ(yb, Multiply(b.matrix, x, m));
    EXPECT_EQ(yc, Multiply(c.matrix, x, m));
  }
}

TEST(MatMul, NoColumnsGiveZeros) {
  const WeightMatrix w = WeightMatrix::Make(DType::kQ4_0, 3, 0, nullptr).value();
  for (const float y : Multiply(w, {}, 2)) EXPECT_EQ(y, 0.0f);
}

TEST(MatMul, NoRowsOrNoActivationsIsNoWork) {
  const WeightMatrix w = WeightMatrix::Make(DType::kQ8_0, 0, 64, nullptr).value();
  EXPECT_TRUE(Multiply(w, Normals(128, 1), 2).empty());
  const Weights some = RandomWeights(DType::kQ8_0, 4, 64, 2);
  EXPECT_TRUE(Multiply(some.matrix, {}, 0).empty());
}

TEST(WeightMatrix, RefusesWhatItCannotMultiply) {
  const char bytes[4] = {};
  EXPECT_EQ(WeightMatrix::Make(DType::kI32, 1, 1, bytes).error().code(),
            core::StatusCode::kUnsupported);
  EXPECT_EQ(WeightMatrix::Make(DType::kQ4_K, 1, 640 + 1, bytes).error().code(),
            core::StatusCode::kInvalidArgument);
  EXPECT_EQ(WeightMatrix::Make(DType::kF32, -1, 4, bytes).error().code(),
            core::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      WeightMatrix::Make(DType::kF32, int64_t{1} << 40, int64_t{1} << 40, bytes).error().code(),
      core::StatusCode::kInvalidArgument);
  EXPECT_EQ(WeightMatrix::Make(DType::kF32, 1, 1, nullptr).error().code(),
            core::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace rml::kernels
