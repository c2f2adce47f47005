// Not every machine has AVX512-BF16: the kernel's own code is compiled here against
// SIMDe's portable form of the intrinsics, and so are the packing and the blocking around it.
#include "rml/kernels/float_gemm_bf16.h"

#include <gtest/gtest.h>

#include "rml/core/half.h"
#include "rml/kernels/convert.h"
#include "rml/kernels/float_gemm.h"
#include "rml/kernels/float_test_util.h"

#if __has_include(<simde/x86/avx512.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wpsabi"
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#pragma GCC diagnostic pop
#pragma GCC diagnostic ignored "-Wpsabi"  // the emulation passes 64-byte vectors to itself only
#define RML_HAVE_SIMDE 1
#endif

namespace rml::kernels {
namespace {

// What the kernel should give: activations rounded to bf16, products and sums as exact as f64.
std::vector<float> RoundedReference(const std::vector<uint16_t>& w, int64_t rows, int64_t cols,
                                    const std::vector<float>& x, int64_t m, std::vector<float> y) {
  std::vector<uint16_t> narrow(x.size());
  F32ToBF16(x.data(), static_cast<int64_t>(x.size()), narrow.data());
  std::vector<float> rounded(x.size());
  BF16ToF32(narrow.data(), static_cast<int64_t>(x.size()), rounded.data());
  FloatGemmReference(core::DType::kBF16, w.data(), rows, cols, rounded.data(), cols, m, y.data(),
                     rows, true);
  return y;
}

#if defined(RML_HAVE_SIMDE)

namespace emulated {
#include "rml/kernels/float_gemm_avx512bf16-inl.h"
}

TEST(Bf16Gemm, TheEmulatedKernelMatchesTheReference) {
  for (const int64_t m : {1, 4, 8, 9, 15, 200}) {
    for (const int64_t rows : {1, 47, 48, 49, 100}) {
      for (const int64_t cols : {1, 2, 31, 256, 257, 515}) {
        TestRandom random(12);
        std::vector<uint16_t> w(static_cast<size_t>(rows * cols));
        for (uint16_t& value : w) value = core::F32ToBF16(random.Uniform());
        const std::vector<float> x = random.Vector(m * cols);
        const std::vector<float> initial = random.Vector(m * rows);
        std::vector<float> y = initial;
        std::vector<std::byte> scratch(kFloatGemmScratchBytes);
        const int64_t middle = rows / 2;  // two ranges, as two threads would
        for (const auto& [begin, end] : {std::pair{int64_t{0}, middle}, {middle, rows}}) {
          Bf16GemmRange(emulated::Bf16Panel, w.data(), begin, end, cols, x.data(), cols, m,
                        y.data(), rows, true, scratch.data());
        }
        const std::vector<float> expected = RoundedReference(w, rows, cols, x, m, initial);
        for (size_t i = 0; i < y.size(); ++i) {
          ASSERT_NEAR(y[i], expected[i], 1e-5)
              << "m " << m << " rows " << rows << " cols " << cols << " at " << i;
        }
      }
    }
  }
}

#else

TEST(Bf16Gemm, TheEmulatedKernelMatchesTheReference) {
  GTEST_SKIP() << "libsimde-dev is not installed: the AVX512-BF16 kernel is not checked";
}

#endif

TEST(Bf16Gemm, TheNativeKernelMatchesRoundedActivations) {
  if (!IsSupported(Isa::kAvx512Bf16)) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  const ScopedIsa scoped(Isa::kAvx512Bf16);
  const int64_t m = 37, rows = 130, cols = 600;
  TestRandom random(5);
  std::vector<uint16_t> w(static_cast<size_t>(rows * cols));
  for (uint16_t& value : w) value = core::F32ToBF16(random.Uniform());
  const std::vector<float> x = random.Vector(m * cols);
  std::vector<float> y(static_cast<size_t>(m * rows));
  std::vector<std::byte> scratch(kFloatGemmScratchBytes);
  FloatGemmRange(core::DType::kBF16, w.data(), 0, rows, cols, x.data(), cols, m, y.data(), rows,
                 false, scratch);
  const std::vector<float> expected =
      RoundedReference(w, rows, cols, x, m, std::vector<float>(y.size()));
  for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-5) << i;
}

}  // namespace
}  // namespace rml::kernels
