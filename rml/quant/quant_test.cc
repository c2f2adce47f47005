// The block formats against fixtures that ggml wrote (testdata/golden/quant), and against their own
// definitions.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "rml/core/half.h"
#include "rml/quant/blocks.h"
#include "rml/quant/dequantize.h"
#include "rml/quant/dot.h"
#include "rml/quant/quantize.h"

namespace rml::quant {
namespace {

using core::DType;

constexpr int64_t kRows = 8;
constexpr int64_t kCols = 512;

struct Golden {
  const char* file;
  DType dtype;
  bool same_bytes;  // our quantiser promises llama.cpp's bytes
};

class QuantGolden : public testing::TestWithParam<Golden> {};

std::vector<char> ReadAll(const std::string& name) {
  std::ifstream file(std::string(RML_TESTDATA) + "/golden/quant/" + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<float> ReadFloats(const std::string& name) {
  const std::vector<char> bytes = ReadAll(name);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

double SquaredError(const float* a, const float* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum;
}

TEST_P(QuantGolden, DequantizedBlocksHaveGgmlsBits) {
  const auto stored = ReadAll(std::string(GetParam().file) + ".bin");
  const auto want = ReadFloats(std::string(GetParam().file) + ".f32.bin");
  ASSERT_EQ(static_cast<int64_t>(want.size()), kRows * kCols);
  ASSERT_EQ(core::StorageBytes(GetParam().dtype, kRows * kCols),
            static_cast<int64_t>(stored.size()));
  std::vector<float> got(want.size());
  Dequantize(GetParam().dtype, stored.data(), kRows * kCols, got.data());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want[i])) << "element " << i;
  }
}

TEST_P(QuantGolden, QuantizedRowsMatchGgmls) {
  const DType dtype = GetParam().dtype;
  const auto input = ReadFloats("input.f32.bin");
  const auto want = ReadAll(std::string(GetParam().file) + ".bin");
  std::vector<char> got(want.size());
  Quantize(dtype, input.data(), kRows * kCols, got.data());
  if (GetParam().same_bytes) {
    EXPECT_EQ(got, want);
    return;
  }
  const auto want_values = ReadFloats(std::string(GetParam().file) + ".f32.bin");
  std::vector<float> values(want_values.size());
  Dequantize(dtype, got.data(), kRows * kCols, values.data());
  for (int64_t row = 0; row < kRows; ++row) {
    const float* x = input.data() + row * kCols;
    const double ours = SquaredError(values.data() + row * kCols, x, kCols);
    const double theirs = SquaredError(want_values.data() + row * kCols, x, kCols);
    EXPECT_LE(ours, theirs * 1.001 + 1e-30) << "row " << row;
    EXPECT_GE(ours, theirs * 0.999) << "row " << row;
  }
  // Values, not bytes: the codes of a group whose scale is zero mean nothing.
  int64_t different = 0;
  for (size_t i = 0; i < values.size(); ++i) different += values[i] != want_values[i];
  EXPECT_LE(different, kRows * kCols / 1000);
}

TEST_P(QuantGolden, QuantizingDequantizedZerosGivesZeros) {
  const DType dtype = GetParam().dtype;
  const std::vector<float> zeros(kSuperBlock, 0.0f);
  std::vector<char> stored(static_cast<size_t>(*core::StorageBytes(dtype, kSuperBlock)));
  std::vector<float> values(kSuperBlock, 1.0f);
  Quantize(dtype, zeros.data(), kSuperBlock, stored.data());
  Dequantize(dtype, stored.data(), kSuperBlock, values.data());
  for (const float value : values) EXPECT_EQ(value, 0.0f);
}

TEST_P(QuantGolden, TheReferenceDotIsThatOfTheDequantizedRow) {
  const DType dtype = GetParam().dtype;
  const auto stored = ReadAll(std::string(GetParam().file) + ".bin");
  const auto values = ReadFloats(std::string(GetParam().file) + ".f32.bin");
  const auto x = ReadFloats("input.f32.bin");
  double want = 0;
  for (int64_t i = 0; i < kCols; ++i) {
    want += static_cast<double>(values[static_cast<size_t>(i)]) *
            static_cast<double>(x[static_cast<size_t>(i)]);
  }
  EXPECT_DOUBLE_EQ(DotReference(dtype, stored.data(), x.data(), kCols).value, want);
}

INSTANTIATE_TEST_SUITE_P(
    Ggml, QuantGolden,
    testing::Values(Golden{"f16", DType::kF16, true}, Golden{"bf16", DType::kBF16, true},
                    Golden{"q4_0", DType::kQ4_0, true}, Golden{"q4_1", DType::kQ4_1, true},
                    Golden{"q5_0", DType::kQ5_0, true}, Golden{"q5_1", DType::kQ5_1, true},
                    Golden{"q8_0", DType::kQ8_0, true}, Golden{"q4_k", DType::kQ4_K, false},
                    Golden{"q5_k", DType::kQ5_K, false}, Golden{"q6_k", DType::kQ6_K, false}),
    [](const auto& golden) { return std::string(golden.param.file); });

TEST(Quant, HalfToFloatAgreesWithTheReadableFormOnEveryHalf) {
  for (uint32_t half = 0; half <= 0xffff; ++half) {
    const float got = HalfToFloat(static_cast<uint16_t>(half));
    const float want = core::F16ToF32(static_cast<uint16_t>(half));
    ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(want)) << half;
  }
}

TEST(Quant, BlocksHaveTheSizesThatTheDTypeTableSays) {
  const auto bytes = [](DType dtype) { return static_cast<size_t>(core::Info(dtype).block_bytes); };
  EXPECT_EQ(sizeof(BlockQ4_0), bytes(DType::kQ4_0));
  EXPECT_EQ(sizeof(BlockQ4_1), bytes(DType::kQ4_1));
  EXPECT_EQ(sizeof(BlockQ5_0), bytes(DType::kQ5_0));
  EXPECT_EQ(sizeof(BlockQ5_1), bytes(DType::kQ5_1));
  EXPECT_EQ(sizeof(BlockQ8_0), bytes(DType::kQ8_0));
  EXPECT_EQ(sizeof(BlockQ4_K), bytes(DType::kQ4_K));
  EXPECT_EQ(sizeof(BlockQ5_K), bytes(DType::kQ5_K));
  EXPECT_EQ(sizeof(BlockQ6_K), bytes(DType::kQ6_K));
}

TEST(Quant, NoElementsIsNoWork) {
  Dequantize(DType::kQ4_K, nullptr, 0, nullptr);
  Quantize(DType::kF32, nullptr, 0, nullptr);
  EXPECT_EQ(DotReference(DType::kQ8_0, nullptr, nullptr, 0).value, 0);
}

}  // namespace
}  // namespace rml::quant
