// The panel kernels one by one, against the portable ones, for tables that this machine runs and
// for those that it can only emulate.
#include "rml/kernels/qgemm_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rml/kernels/qgemm_emulation_test.h"
#include "rml/quant/quantize.h"

namespace rml::kernels {
namespace {

using core::DType;

template <typename T>
struct Aligned {
  explicit Aligned(int64_t count)
      : data(static_cast<T*>(
                 std::aligned_alloc(64, (static_cast<size_t>(count) * sizeof(T) / 64 + 1) * 64)),
             &std::free) {}
  operator T*() const { return data.get(); }
  std::unique_ptr<T, decltype(&std::free)> data;
};

struct NamedTable {
  std::string name;
  const QuantKernels* table;
};

// Emulated tables unpack and round with the AVX2 functions, so they need a machine with AVX2.
std::vector<NamedTable> Tables() {
  std::vector<NamedTable> tables;
  for (const Isa isa : SupportedIsas()) {
    tables.push_back({std::string(IsaName(isa)), &QuantKernelsFor(isa)});
  }
  if (IsSupported(Isa::kAvx2)) {
    if (EmulatedAvx512() != nullptr) tables.push_back({"emulated avx512", EmulatedAvx512()});
    if (EmulatedAvx512Vnni() != nullptr) {
      tables.push_back({"emulated avx512vnni", EmulatedAvx512Vnni()});
    }
  }
  return tables;
}

std::vector<float> NormalValues(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.1f, 1.0f);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(generator);
  return values;
}

// 16 rows of random weights.
std::vector<char> PanelBytes(DType dtype, int64_t cols) {
  const auto values = NormalValues(kPanelRows * cols, 3);
  std::vector<char> bytes(static_cast<size_t>(*core::StorageBytes(dtype, kPanelRows * cols)));
  quant::Quantize(dtype, values.data(), kPanelRows * cols, bytes.data());
  return bytes;
}

// acc[m][16] of the whole panel, taken kPanelCols at a time as the driver does.
std::vector<float> RunPanel(const QuantKernels& table, DType dtype, const std::vector<char>& bytes,
                            int64_t cols, const std::vector<float>& x, int64_t m) {
  const core::DTypeInfo& info = core::Info(dtype);
  const int64_t total = cols / info.block_elements;
  const int64_t each = kPanelCols / info.block_elements;
  const auto row_bytes = static_cast<int64_t>(bytes.size()) / kPanelRows;
  const Aligned<uint8_t> codes(2 * kPanelCols * kPanelRows);
  const Aligned<float> d(kPanelBlocks * kPanelRows);
  const Aligned<float> other(kPanelBlocks * kPanelRows);
  const Aligned<int16_t> scales(kPanelSuperBlocks * 16 * kPanelRows * 2);
  const Aligned<int16_t> mins(kPanelSuperBlocks * 16 * kPanelRows);
  const Aligned<float> acc(m * kPanelRows);
  const Aligned<int8_t> x_codes(m * cols);
  const Aligned<float> x_scales(m * cols / 32);
  const Aligned<float> x_sums(m * cols / 32);
  const Aligned<int16_t> sums16(m * cols / 16);
  const Aligned<int16_t> sums32(m * cols / 32);
  const Activations32 a32 = {x_codes, x_scales, x_sums};
  const Activations256 a256 = {x_codes, x_scales, sums16, sums32};
  const Kernels32* k32 = Find32(table, dtype);
  for (int64_t i = 0; i < m; ++i) {
    if (k32 != nullptr) {
      table.quantize32(x.data() + i * cols, cols, i, m, a32);
    } else {
      table.quantize256(x.data() + i * cols, cols, i, m, a256);
    }
  }
  for (int64_t b = 0; b < total; b += each) {
    PanelSource source;
    source.blocks = std::min(each, total - b);
    for (int r = 0; r < kPanelRows; ++r) {
      source.rows[r] =
          reinterpret_cast<const uint8_t*>(bytes.data()) + r * row_bytes + b * info.block_bytes;
    }
    if (k32 != nullptr) {
      const Panel32 panel = {codes, d, other};
      k32->unpack(source, panel);
      k32->gemm(panel, b, source.blocks, total, a32, m, acc, b == 0);
    } else {
      const Kernels256* k256 = Find256(table, dtype);
      const Panel256 panel = {codes, scales, mins, d, other};
      k256->unpack(source, panel);
      k256->gemm(panel, b, source.blocks, a256, m, acc, b == 0);
    }
  }
  return {acc.data.get(), acc.data.get() + m * kPanelRows};
}

class QuantKernelTables : public testing::TestWithParam<DType> {};

TEST_P(QuantKernelTables, AgreeWithThePortableOneOnEveryTileWidth) {
  const DType dtype = GetParam();
  const int64_t unit = core::Info(dtype).block_elements;
  for (const int64_t units : {1, 2, 3, 5, 17, 18}) {
    if (units * unit > 1280) continue;  // a panel has 512 columns: these are enough
    const int64_t cols = unit * units;
    const auto bytes = PanelBytes(dtype, cols);
    for (int64_t m = 1; m <= 17; ++m) {
      const auto x = NormalValues(m * cols, static_cast<uint32_t>(m));
      const auto want = RunPanel(kQuantKernelsPortable, dtype, bytes, cols, x, m);
      for (const NamedTable& named : Tables()) {
        const auto got = RunPanel(*named.table, dtype, bytes, cols, x, m);
        for (size_t i = 0; i < got.size(); ++i) {
          // Sums of cols products of order one, and offsets some ten times larger, in f32.
          ASSERT_NEAR(got[i], want[i], 2e-5 * static_cast<double>(cols) / 8)
              << named.name << " cols " << cols << " m " << m << " element " << i;
        }
      }
    }
  }
}

TEST_P(QuantKernelTables, LargestProductsAreExactInEveryTable) {
  // All bits of the codes set, x at ±127: the largest sums that the 16-bit steps can meet.
  const DType dtype = GetParam();
  const int64_t cols = 512;
  auto bytes = PanelBytes(dtype, cols);
  const auto block = static_cast<size_t>(core::Info(dtype).block_bytes);
  for (size_t b = 0; b < bytes.size(); b += block) {
    // Keep the first four bytes and the last two: halves that must stay finite (d, m, dmin).
    for (size_t j = dtype == DType::kQ6_K ? 0 : 4; j + 2 < block; ++j) {
      bytes[b + j] = dtype == DType::kQ8_0 ? static_cast<char>(0x80) : static_cast<char>(0xff);
    }
  }
  for (const int64_t m : {1, 4, 9}) {
    std::vector<float> x(static_cast<size_t>(m * cols));
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = i / static_cast<size_t>(cols) % 2 == 0 ? 127.0f : -127.0f;
    const auto want = RunPanel(kQuantKernelsPortable, dtype, bytes, cols, x, m);
    for (const NamedTable& named : Tables()) {
      const auto got = RunPanel(*named.table, dtype, bytes, cols, x, m);
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], want[i], 1e-5 * std::fabs(want[i]) + 0.1)
            << named.name << " element " << i;
      }
    }
  }
}

TEST_P(QuantKernelTables, RoundXToTheSameCodes) {
  const int64_t cols = 768;
  auto x = NormalValues(3 * cols, 9);
  for (size_t i = 0; i < 64; ++i) x[i] = static_cast<float>(i) - 31.5f;  // ties
  for (const NamedTable& named : Tables()) {
    for (const bool super : {false, true}) {
      std::vector<std::vector<char>> results;
      for (const QuantKernels* table : {&kQuantKernelsPortable, named.table}) {
        std::vector<int8_t> codes(3 * static_cast<size_t>(cols));
        std::vector<float> scales(static_cast<size_t>(3 * cols / 32)), sums(scales.size());
        std::vector<int16_t> sums16(static_cast<size_t>(3 * cols / 16)), sums32(sums16.size() / 2);
        for (int64_t i = 0; i < 3; ++i) {
          if (super) {
            table->quantize256(x.data() + i * cols, cols, i, 3,
                               {codes.data(), scales.data(), sums16.data(), sums32.data()});
          } else {
            table->quantize32(x.data() + i * cols, cols, i, 3,
                              {codes.data(), scales.data(), sums.data()});
          }
        }
        std::vector<char> all;
        const auto append = [&](const auto& v) {
          const char* p = reinterpret_cast<const char*>(v.data());
          all.insert(all.end(), p, p + v.size() * sizeof(v[0]));
        };
        append(codes), append(scales), append(sums), append(sums16), append(sums32);
        results.push_back(all);
      }
      EXPECT_EQ(results[0], results[1]) << named.name << (super ? " 256" : " 32");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, QuantKernelTables,
                         testing::Values(DType::kQ4_0, DType::kQ4_1, DType::kQ5_0, DType::kQ5_1,
                                         DType::kQ8_0, DType::kQ4_K, DType::kQ5_K, DType::kQ6_K),
                         [](const auto& tested) { return std::string(core::Name(tested.param)); });

#if defined(__x86_64__)
TEST(QuantKernels, TheAvx512LevelsAreTestedOnThisMachine) {
  if (IsSupported(Isa::kAvx512Vnni)) return;
  if (EmulatedAvx512() == nullptr || EmulatedAvx512Vnni() == nullptr) {
    GTEST_SKIP() << "install libsimde-dev to test the AVX-512 kernels here";
  }
}
#endif

}  // namespace
}  // namespace rml::kernels
