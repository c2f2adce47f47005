#include "rml/core/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "rml/core/device.h"
#include "rml/core/half.h"
#include "rml/core/testing/fake_device.h"

namespace rml::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor Take(Expected<Tensor> tensor) {
  EXPECT_TRUE(tensor.ok()) << tensor.status().message();
  return tensor.ok() ? *tensor : Tensor();
}

template <typename T>
Tensor Row(std::vector<T> values) {
  return Take(Tensor::FromHost<T>({static_cast<int64_t>(values.size())}, values, Cpu()));
}

template <typename T>
std::vector<T> As(const Tensor& tensor, DType dtype = DTypeOf<T>::value) {
  const Tensor converted = Take(Convert(tensor, dtype, Cpu()));
  const auto data = converted.HostData<T>();
  EXPECT_TRUE(data.ok()) << data.status().message();
  if (!data.ok()) return {};
  return {data->begin(), data->end()};
}

std::vector<DType> OrdinaryDTypes() {
  std::vector<DType> dtypes;
  for (int i = 0; i < kDTypeCount; ++i) {
    if (!IsQuantized(static_cast<DType>(i))) dtypes.push_back(static_cast<DType>(i));
  }
  return dtypes;
}

TEST(Convert, SmallIntegersSurviveEveryPairOfDtypes) {
  const std::vector<int32_t> values = {0, 1, 2, 3, 4, 5, 6, 7};
  const Tensor start = Row(values);
  for (const DType first : OrdinaryDTypes()) {
    for (const DType second : OrdinaryDTypes()) {
      const Tensor through = Take(Convert(Take(Convert(start, first, Cpu())), second, Cpu()));
      EXPECT_EQ(through.dtype(), second);
      std::vector<int32_t> expected = values;
      if (first == DType::kBool || second == DType::kBool) expected = {0, 1, 1, 1, 1, 1, 1, 1};
      EXPECT_EQ(As<int32_t>(through), expected) << Name(first) << " " << Name(second);
    }
  }
}

TEST(Convert, NegativeIntegersSurviveEveryPairOfSignedDtypes) {
  const std::vector<int32_t> values = {-8, -7, -1, 0, 1, 7};
  for (const DType first : OrdinaryDTypes()) {
    for (const DType second : OrdinaryDTypes()) {
      const auto is_signed = [](DType d) {
        return IsFloat(d) || Info(d).kind == DTypeKind::kSigned;
      };
      if (!is_signed(first) || !is_signed(second)) continue;
      const Tensor through = Take(Convert(Take(Convert(Row(values), first, Cpu())), second, Cpu()));
      EXPECT_EQ(As<int32_t>(through), values) << Name(first) << " " << Name(second);
    }
  }
}

TEST(Convert, FloatToIntegerTruncatesSaturatesAndMakesNanZero) {
  const Tensor x =
      Row<float>({0.9f, -0.9f, 2.5f, -2.5f, 1e20f, -1e20f, kInf, -kInf, kNan, 127.9f, 255.9f});
  EXPECT_EQ(As<int8_t>(x), (std::vector<int8_t>{0, 0, 2, -2, 127, -128, 127, -128, 0, 127, 127}));
  EXPECT_EQ(As<uint8_t>(x), (std::vector<uint8_t>{0, 0, 2, 0, 255, 0, 255, 0, 0, 127, 255}));
  EXPECT_EQ(As<int64_t>(x), (std::vector<int64_t>{0, 0, 2, -2, INT64_MAX, INT64_MIN, INT64_MAX,
                                                  INT64_MIN, 0, 127, 255}));
  EXPECT_EQ(As<uint64_t>(x),
            (std::vector<uint64_t>{0, 0, 2, 0, UINT64_MAX, 0, UINT64_MAX, 0, 0, 127, 255}));
  EXPECT_EQ(
      As<int32_t>(Row<double>({2147483647.0, 2147483648.0, -2147483648.0, -2147483649.5, 0.1})),
      (std::vector<int32_t>{INT32_MAX, INT32_MAX, INT32_MIN, INT32_MIN, 0}));
}

TEST(Convert, FloatsAtTheEdgesOf64BitIntegersAreExact) {
  const double two_63 = std::ldexp(1.0, 63);
  EXPECT_EQ(As<int64_t>(Row<double>(
                {std::nextafter(two_63, 0.0), two_63, -two_63, std::nextafter(-two_63, -1e30)})),
            (std::vector<int64_t>{INT64_MAX - 1023, INT64_MAX, INT64_MIN, INT64_MIN}));
  EXPECT_EQ(As<uint64_t>(Row<double>({two_63, std::nextafter(2 * two_63, 0.0), 2 * two_63})),
            (std::vector<uint64_t>{uint64_t{1} << 63, UINT64_MAX - 2047, UINT64_MAX}));
}

TEST(Convert, IntegerToIntegerKeepsTheLowBits) {
  const Tensor x = Row<int64_t>({300, -1, INT64_MIN, 0x1234567890});
  EXPECT_EQ(As<uint8_t>(x), (std::vector<uint8_t>{44, 255, 0, 0x90}));
  EXPECT_EQ(As<int8_t>(x), (std::vector<int8_t>{44, -1, 0, -112}));
  EXPECT_EQ(As<uint64_t>(x),
            (std::vector<uint64_t>{300, UINT64_MAX, uint64_t{1} << 63, 0x1234567890}));
  EXPECT_EQ(As<int64_t>(Row<uint64_t>({UINT64_MAX})), (std::vector<int64_t>{-1}));
  EXPECT_EQ(As<int32_t>(Row<uint32_t>({UINT32_MAX})), (std::vector<int32_t>{-1}));
}

TEST(Convert, FourBitIntegersKeepLowBitsOfIntegersAndSaturateFloats) {
  const Tensor ints = Row<int32_t>({-100, -9, -8, 7, 8, 100});
  EXPECT_EQ(As<int32_t>(Take(Convert(ints, DType::kI4, Cpu()))),
            (std::vector<int32_t>{-4, 7, -8, 7, -8, 4}));
  EXPECT_EQ(As<int32_t>(Take(Convert(ints, DType::kU4, Cpu()))),
            (std::vector<int32_t>{12, 7, 8, 7, 8, 4}));
  const Tensor unsigneds = Row<uint64_t>({UINT64_MAX, 8, 16, 3});
  EXPECT_EQ(As<int32_t>(Take(Convert(unsigneds, DType::kI4, Cpu()))),
            (std::vector<int32_t>{-1, -8, 0, 3}));
  EXPECT_EQ(As<int32_t>(Take(Convert(unsigneds, DType::kU4, Cpu()))),
            (std::vector<int32_t>{15, 8, 0, 3}));
  const Tensor signeds = Take(Convert(Row<int32_t>({-1, -8, 0, 7}), DType::kI4, Cpu()));
  EXPECT_EQ(As<int32_t>(Take(Convert(signeds, DType::kU4, Cpu()))),
            (std::vector<int32_t>{15, 8, 0, 7}));
  const Tensor floats = Row<float>({-8.9f, -kInf, 7.99f, 1e30f, kNan, -0.5f});
  EXPECT_EQ(As<int32_t>(Take(Convert(floats, DType::kI4, Cpu()))),
            (std::vector<int32_t>{-8, -8, 7, 7, 0, 0}));
  EXPECT_EQ(As<int32_t>(Take(Convert(floats, DType::kU4, Cpu()))),
            (std::vector<int32_t>{0, 0, 7, 15, 0, 0}));
}

TEST(Convert, FourBitIntegersPackTheLowNibbleFirst) {
  const Tensor packed = Take(Convert(Row<int32_t>({1, -2, 7, -8}), DType::kI4, Cpu()));
  EXPECT_THAT(*packed.HostBytes(), ElementsAre(std::byte{0xe1}, std::byte{0x87}));
  EXPECT_FALSE(Convert(Row<int32_t>({1, 2, 3}), DType::kI4, Cpu()).ok())
      << "half a byte is left over";
}

TEST(Convert, StoringNibblesLeavesTheirNeighboursAlone) {
  const Tensor packed = Take(Convert(Row<int32_t>({1, 2, 3, 4, 5, 6}), DType::kU4, Cpu()));
  ASSERT_TRUE(ConvertTo(Row<float>({9, 10}), Take(packed.Slice(0, 2, 4))).ok());
  EXPECT_EQ(As<int32_t>(packed), (std::vector<int32_t>{1, 2, 9, 10, 5, 6}));
}

TEST(Convert, BooleansAreWhatIsNotZero) {
  const Tensor floats = Row<float>({0.0f, -0.0f, 0.1f, -kInf, kNan});
  EXPECT_EQ(As<uint8_t>(floats, DType::kBool), (std::vector<uint8_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(As<uint8_t>(Row<int64_t>({0, int64_t{1} << 40}), DType::kBool),
            (std::vector<uint8_t>{0, 1}));
  // Bytes of a file may hold any value; each counts as one.
  const std::byte odd[] = {std::byte{0}, std::byte{2}, std::byte{255}};
  const Tensor from_file = Take(Tensor::FromBytes(DType::kBool, {3}, odd, Cpu()));
  EXPECT_EQ(As<int32_t>(from_file), (std::vector<int32_t>{0, 1, 1}));
  EXPECT_EQ(As<float>(from_file), (std::vector<float>{0.0f, 1.0f, 1.0f}));
}

TEST(Convert, NarrowFloatsFollowTheScalarFunctions) {
  std::vector<float> values = {0.0f,   -0.0f,  1.0f,  65504.0f, 65519.0f, 65520.0f,
                               448.0f, 465.0f, 1e-8f, kInf,     -kInf};
  for (int i = 0; i < 600; ++i)
    values.push_back(std::ldexp(1.0f + static_cast<float>(i) / 600, i % 60 - 30));
  const Tensor x = Row(values);
  const auto f16 = As<F16>(x);
  const auto bf16 = As<BF16>(x);
  const auto e4m3 = As<F8E4M3>(x);
  const auto e5m2 = As<F8E5M2>(x);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(f16[i].bits, F32ToF16(values[i]));
    EXPECT_EQ(bf16[i].bits, F32ToBF16(values[i]));
    EXPECT_EQ(e4m3[i].bits, F32ToF8E4M3(values[i]));
    EXPECT_EQ(e5m2[i].bits, F32ToF8E5M2(values[i]));
  }
  EXPECT_EQ(As<float>(Row(f16))[3], 65504.0f);
}

TEST(Convert, RoundsOnceFromF64AndFromWideIntegers) {
  const double above_tie = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(As<F16>(Row<double>({above_tie}))[0].bits, F32ToF16(1.0f) + 1);
  EXPECT_EQ(As<F16>(Row<double>({-above_tie}))[0].bits, F32ToF16(-1.0f) + 1);
  const double bf16_above_tie = 1.0 + std::ldexp(1.0, -8) + std::ldexp(1.0, -50);
  EXPECT_EQ(As<BF16>(Row<double>({bf16_above_tie}))[0].bits, F32ToBF16(1.0f) + 1);
  // 2^62 + 2^54 is the tie of two bf16; one more decides, and is lost in f32 and in f64.
  const int64_t tie = (int64_t{1} << 62) + (int64_t{1} << 54);
  const auto even = F32ToBF16(std::ldexp(1.0f, 62));
  EXPECT_EQ(As<BF16>(Row<int64_t>({tie, tie + 1, tie - 1, -tie - 1})),
            (std::vector<BF16>{BF16{even}, BF16{static_cast<uint16_t>(even + 1)}, BF16{even},
                               BF16{static_cast<uint16_t>((even + 1) | 0x8000)}}));
  EXPECT_EQ(As<BF16>(Row<uint64_t>({uint64_t(tie) + 1}))[0].bits, even + 1);
  EXPECT_EQ(As<float>(Row<int64_t>({(int64_t{1} << 24) + 1}))[0], 16777216.0f);
  EXPECT_EQ(As<float>(Row<int64_t>({(int64_t{1} << 60) + (int64_t{1} << 36) + 1}))[0],
            std::ldexp(1.0f, 60) + std::ldexp(1.0f, 37));
  EXPECT_EQ(As<float>(Row<double>({1e300}))[0], kInf);
}

TEST(Convert, WalksAnyStrides) {
  std::vector<float> values(600);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Tensor matrix = Take(Tensor::FromHost<float>({20, 30}, values, Cpu()));
  const Tensor view = Take(Take(matrix.Transpose(0, 1)).Slice(0, 1, 30, 3));
  const Tensor target = Take(Tensor::Zeros(DType::kI16, {10, 40}, Cpu()));
  ASSERT_TRUE(ConvertTo(view, Take(target.Slice(1, 0, 40, 2))).ok());
  const auto data = *target.HostData<int16_t>();
  for (size_t row = 0; row < 10; ++row) {
    for (size_t column = 0; column < 40; ++column) {
      const size_t expected = column % 2 == 0 ? column / 2 * 30 + 1 + 3 * row : 0;
      ASSERT_EQ(data[row * 40 + column], static_cast<int16_t>(expected));
    }
  }
  const Tensor wide = Take(Row<float>({1, 2}).BroadcastTo({3, 2}));
  EXPECT_EQ(As<int32_t>(wide), (std::vector<int32_t>{1, 2, 1, 2, 1, 2}));
  EXPECT_TRUE(As<int32_t>(Row<float>({})).empty());
}

TEST(Convert, ReadsMemoryThatIsNotAligned) {
  const std::shared_ptr<Buffer> buffer = *Buffer::Allocate(Cpu(), 17);
  const float values[] = {1.5f, -2.0f, 3.0f, 4.0f};
  ASSERT_TRUE(buffer->CopyFromHost(1, std::as_bytes(std::span(values))).ok());
  const Tensor shifted = Take(Tensor::Over(buffer, DType::kF32, {4}, 1));
  EXPECT_EQ(As<double>(shifted), (std::vector<double>{1.5, -2.0, 3.0, 4.0}));
}

TEST(Convert, ToTheSameDtypeIsACopy) {
  const Tensor x = Row<float>({1, kNan});
  const Tensor copy = Take(Convert(x, DType::kF32, Cpu()));
  EXPECT_NE(copy.buffer(), x.buffer());
  EXPECT_TRUE(std::isnan((*copy.HostData<float>())[1]));
}

TEST(Convert, QuantisedDtypesAreReferredToRmlQuant) {
  const Tensor x = Take(Tensor::Zeros(DType::kF32, {2, 256}, Cpu()));
  const auto failed = Convert(x, DType::kQ4_K, Cpu());
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code(), StatusCode::kUnsupported);
  EXPECT_THAT(std::string(failed.error().message()), HasSubstr("rml/quant"));
  const Tensor q = Take(Tensor::Zeros(DType::kQ8_0, {2, 32}, Cpu()));
  EXPECT_EQ(Convert(q, DType::kF32, Cpu()).error().code(), StatusCode::kUnsupported);
  EXPECT_TRUE(Convert(q, DType::kQ8_0, Cpu()).ok());
}

TEST(Convert, RefusesOtherShapesBroadcastTargetsAndOtherDevices) {
  const Tensor x = Row<float>({1, 2});
  EXPECT_FALSE(ConvertTo(x, Row<int32_t>({1, 2, 3})).ok());
  EXPECT_FALSE(ConvertTo(x, Take(Row<int32_t>({1}).BroadcastTo({2}))).ok());
  testing::FakeDevice fake;
  EXPECT_EQ(Convert(Take(x.Copy(fake)), DType::kF16, Cpu()).error().code(),
            StatusCode::kUnsupported);
  EXPECT_EQ(Convert(x, DType::kF16, fake).error().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace rml::core
