#include "rml/kernels/convert.h"

#include "rml/core/half.h"
#include "rml/kernels/float_test_util.h"

namespace rml::kernels {
namespace {

TEST(Convert, EveryF16AndBF16WidensToTheBitsOfTheReference) {
  std::vector<uint16_t> codes(65536);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint16_t>(i);
  ForEveryIsa([&] {
    std::vector<float> wide(codes.size());
    F16ToF32(codes.data(), 65536, wide.data());
    for (size_t i = 0; i < codes.size(); ++i) {
      const float expected = core::F16ToF32(codes[i]);
      if (std::isnan(expected)) {  // the hardware makes signalling NaNs quiet
        ASSERT_TRUE(std::isnan(wide[i])) << i;
        ASSERT_EQ(std::signbit(expected), std::signbit(wide[i])) << i;
      } else {
        ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(expected)) << i;
      }
    }
    BF16ToF32(codes.data(), 65536, wide.data());
    for (size_t i = 0; i < codes.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), static_cast<uint32_t>(codes[i]) << 16);
    }
  });
}

// Floats around every boundary of rounding: each code's value, the midpoints to its neighbours and
// their neighbours, and random bit patterns.
std::vector<float> Interesting() {
  std::vector<float> values;
  TestRandom random(11);
  for (uint32_t code = 0; code < 65536; code += 3) {
    for (const uint32_t wide :
         {std::bit_cast<uint32_t>(core::F16ToF32(static_cast<uint16_t>(code))), code << 16}) {
      for (const uint32_t step : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u}) {
        values.push_back(std::bit_cast<float>(wide + step));
      }
    }
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random.Bits())));
  }
  for (const float value :
       {65504.0f, 65519.99f, 65520.0f, 65536.0f, 5.9604645e-8f, 2.9802322e-8f, 2.9802326e-8f,
        6.1035156e-5f, 6.1005e-5f, 3.4028235e38f, INFINITY, NAN}) {
    values.push_back(value);
    values.push_back(-value);
  }
  return values;
}

TEST(Convert, NarrowingRoundsToNearestEvenWithTheBitsOfTheReference) {
  const std::vector<float> values = Interesting();
  const auto n = static_cast<int64_t>(values.size());
  ForEveryIsa([&] {
    std::vector<uint16_t> codes(values.size());
    F32ToF16(values.data(), n, codes.data());
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(codes[i], core::F32ToF16(values[i]))
          << std::hex << std::bit_cast<uint32_t>(values[i]);
    }
    F32ToBF16(values.data(), n, codes.data());
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(codes[i], core::F32ToBF16(values[i]))
          << std::hex << std::bit_cast<uint32_t>(values[i]);
    }
  });
}

TEST(Convert, TailsAreConvertedAndNothingBehindThem) {
  ForEveryIsa([] {
    for (const int64_t n : kTails) {
      const std::vector<float> x = TestRandom(3).Vector(n, 100.0f);
      for (const core::DType dtype : {core::DType::kF16, core::DType::kBF16}) {
        std::vector<uint16_t> narrow(static_cast<size_t>(n) + 1, 0x1234);
        FromF32(dtype, x.data(), n, narrow.data());
        EXPECT_EQ(narrow.back(), 0x1234);
        std::vector<float> wide(static_cast<size_t>(n) + 1, -5.0f);
        ToF32(dtype, narrow.data(), n, wide.data());
        EXPECT_EQ(wide.back(), -5.0f);
        for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(wide[i], x[i], 0.5f);
      }
      std::vector<float> copy(static_cast<size_t>(n));
      ToF32(core::DType::kF32, x.data(), n, copy.data());
      EXPECT_EQ(copy, x);
    }
  });
}

}  // namespace
}  // namespace rml::kernels
