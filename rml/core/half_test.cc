#include "rml/core/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rml::core {
namespace {

// A narrow format behind one interface, so that each sentence below is tested on all of them.
struct Format {
  std::string name;  // as in the golden file
  int bits;
  int exponent_bits;
  int mantissa_bits;
  uint32_t largest;   // code of the largest finite magnitude
  uint32_t infinity;  // code, or 0 where there is none
  float (*decode)(uint32_t);
  uint32_t (*encode)(float);

  uint32_t sign() const { return 1u << (bits - 1); }
};

void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

const Format kFormats[] = {
    {"f16", 16, 5, 10, 0x7bff, 0x7c00,
     [](uint32_t x) { return F16ToF32(static_cast<uint16_t>(x)); },
     [](float x) -> uint32_t { return F32ToF16(x); }},
    {"bf16", 16, 8, 7, 0x7f7f, 0x7f80,
     [](uint32_t x) { return BF16ToF32(static_cast<uint16_t>(x)); },
     [](float x) -> uint32_t { return F32ToBF16(x); }},
    {"f8e4m3", 8, 4, 3, 0x7e, 0, [](uint32_t x) { return F8E4M3ToF32(static_cast<uint8_t>(x)); },
     [](float x) -> uint32_t { return F32ToF8E4M3(x); }},
    {"f8e5m2", 8, 5, 2, 0x7b, 0x7c, [](uint32_t x) { return F8E5M2ToF32(static_cast<uint8_t>(x)); },
     [](float x) -> uint32_t { return F32ToF8E5M2(x); }},
};

uint32_t BitsOf(float x) { return std::bit_cast<uint32_t>(x); }

// The value of a finite code by the definition of the format, in double.
double Definition(const Format& format, uint32_t code) {
  const uint32_t magnitude = code & (format.sign() - 1);
  const auto mantissa = static_cast<double>(magnitude & ((1u << format.mantissa_bits) - 1));
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const double scale = std::ldexp(1.0, std::max(exponent, 1) - bias - format.mantissa_bits);
  const double hidden = exponent == 0 ? 0 : std::ldexp(1.0, format.mantissa_bits);
  const double value = (hidden + mantissa) * scale;
  return (code & format.sign()) != 0 ? -value : value;
}

class NarrowFloat : public ::testing::TestWithParam<Format> {};

INSTANTIATE_TEST_SUITE_P(Formats, NarrowFloat, ::testing::ValuesIn(kFormats),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(NarrowFloat, EveryFiniteCodeHasItsDefinedValueAndComesBack) {
  const Format& format = GetParam();
  for (const uint32_t sign : {0u, format.sign()}) {
    for (uint32_t magnitude = 0; magnitude <= format.largest; ++magnitude) {
      const uint32_t code = sign | magnitude;
      const float value = format.decode(code);
      ASSERT_EQ(static_cast<double>(value), Definition(format, code)) << code;
      ASSERT_EQ(std::signbit(value), sign != 0) << code;
      ASSERT_EQ(format.encode(value), code);
    }
  }
}

TEST_P(NarrowFloat, CodesBeyondTheLargestAreInfinityOrNan) {
  const Format& format = GetParam();
  for (uint32_t magnitude = format.largest + 1; magnitude < format.sign(); ++magnitude) {
    for (const uint32_t sign : {0u, format.sign()}) {
      const float value = format.decode(sign | magnitude);
      if (magnitude == format.infinity && format.infinity != 0) {
        EXPECT_TRUE(std::isinf(value));
        EXPECT_EQ(format.encode(value), sign | magnitude);
      } else {
        EXPECT_TRUE(std::isnan(value)) << magnitude;
        EXPECT_TRUE(std::isnan(format.decode(format.encode(value)))) << magnitude;
      }
      EXPECT_EQ(std::signbit(value), sign != 0);
      EXPECT_EQ(format.encode(value) & format.sign(), sign)
          << "the sign of " << magnitude << " is kept";
    }
  }
}

// Between two neighbours lies the midpoint, exact in f32 (for bf16 too: it has 16 bits to spare).
// Just below goes down, just above goes up, and the midpoint itself to the even code.
TEST_P(NarrowFloat, RoundsToNearestAndTiesToEvenBetweenAllNeighbours) {
  const Format& format = GetParam();
  for (uint32_t low = 0; low < format.largest; ++low) {
    const double middle = (Definition(format, low) + Definition(format, low + 1)) / 2;
    const auto tie = static_cast<float>(middle);
    ASSERT_EQ(static_cast<double>(tie), middle);
    const float below = std::nextafter(tie, 0.0f);
    const float above = std::nextafter(tie, std::numeric_limits<float>::infinity());
    for (const float sign : {1.0f, -1.0f}) {
      const uint32_t sign_bit = sign < 0 ? format.sign() : 0;
      ASSERT_EQ(format.encode(sign * below), sign_bit | low) << low;
      ASSERT_EQ(format.encode(sign * tie), sign_bit | (low + low % 2)) << low;
      ASSERT_EQ(format.encode(sign * above), sign_bit | (low + 1)) << low;
    }
  }
}

TEST_P(NarrowFloat, OverflowBeginsHalfAStepPastTheLargest) {
  const Format& format = GetParam();
  const double largest = Definition(format, format.largest);
  const double half_step = (largest - Definition(format, format.largest - 1)) / 2;
  const auto tie = static_cast<float>(largest + half_step);
  const float below = std::nextafter(tie, 0.0f);
  const float above = std::nextafter(tie, std::numeric_limits<float>::infinity());
  EXPECT_EQ(format.encode(below), format.largest);
  const auto is_overflow = [&](float x) {
    const float back = format.decode(format.encode(x));
    return format.infinity != 0 ? std::isinf(back) : std::isnan(back);
  };
  EXPECT_TRUE(is_overflow(above));
  EXPECT_TRUE(is_overflow(std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(is_overflow(-std::numeric_limits<float>::infinity()));
  // The largest code of E4M3FN is even, since its odd neighbour is the NaN.
  EXPECT_EQ(is_overflow(tie), format.largest % 2 == 1);
}

TEST_P(NarrowFloat, NanStaysNanWithItsSign) {
  const Format& format = GetParam();
  for (const uint32_t payload : {1u, 0x1000u, 0x400000u, 0x7fffffu}) {
    for (const uint32_t sign : {0u, 0x80000000u}) {
      const uint32_t code = format.encode(std::bit_cast<float>(0x7f800000u | payload | sign));
      EXPECT_TRUE(std::isnan(format.decode(code))) << payload;
      EXPECT_EQ((code & format.sign()) != 0, sign != 0);
    }
  }
}

TEST_P(NarrowFloat, RoundingIsMonotonic) {
  const Format& format = GetParam();
  uint32_t previous = 0;
  // A prime step, so that many different mantissas come by.
  for (uint64_t bits = 0; bits < 0x7f800000u; bits += 5003) {
    const uint32_t code = format.encode(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    ASSERT_GE(code, previous) << bits;
    previous = code;
  }
}

uint32_t Crc32(const std::vector<uint8_t>& bytes) {
  uint32_t crc = 0xffffffffu;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1u) != 0 ? 0xedb88320u : 0);
  }
  return ~crc;
}

// The golden files write every NaN as the string "nan".
constexpr int64_t kAnyNan = -1;

std::vector<int64_t> CodesOrNan(const nlohmann::json& list) {
  std::vector<int64_t> codes;
  for (const nlohmann::json& item : list) {
    codes.push_back(item.is_string() ? kAnyNan : item.get<int64_t>());
  }
  return codes;
}

TEST_P(NarrowFloat, AgreesWithAnotherLibrary) {
  const Format& format = GetParam();
  std::ifstream file(RML_TESTDATA "/golden/numerics/float_formats.json");
  ASSERT_TRUE(file.good());
  const nlohmann::json golden = nlohmann::json::parse(file).at("formats").at(format.name);

  const std::vector<int64_t> codes = CodesOrNan(golden.at("decode").at("codes"));
  const std::vector<int64_t> values = CodesOrNan(golden.at("decode").at("float32_bits"));
  ASSERT_EQ(codes.size(), values.size());
  ASSERT_GT(codes.size(), 100u);
  for (size_t i = 0; i < codes.size(); ++i) {
    const float value = format.decode(static_cast<uint32_t>(codes[i]));
    EXPECT_EQ(std::isnan(value) ? kAnyNan : int64_t{BitsOf(value)}, values[i]) << codes[i];
  }

  const std::vector<int64_t> inputs = CodesOrNan(golden.at("encode").at("float32_bits"));
  const std::vector<int64_t> encoded = CodesOrNan(golden.at("encode").at("codes"));
  ASSERT_EQ(inputs.size(), encoded.size());
  ASSERT_GT(inputs.size(), 500u);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const float value = inputs[i] == kAnyNan
                            ? std::numeric_limits<float>::quiet_NaN()
                            : std::bit_cast<float>(static_cast<uint32_t>(inputs[i]));
    const uint32_t code = format.encode(value);
    EXPECT_EQ(std::isnan(format.decode(code)) ? kAnyNan : int64_t{code}, encoded[i])
        << "f32 bits " << inputs[i] << " (" << value << ")";
  }

  // The checksum of all values that are numbers, in the order of the codes.
  std::vector<uint8_t> bytes;
  int64_t numbers = 0;
  for (uint32_t code = 0; code < 1u << format.bits; ++code) {
    const float value = format.decode(code);
    if (std::isnan(value)) continue;
    ++numbers;
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<uint8_t>(BitsOf(value) >> shift));
    }
  }
  EXPECT_EQ(numbers, golden.at("decode_crc32").at("numbers").get<int64_t>());
  EXPECT_EQ(Crc32(bytes), golden.at("decode_crc32").at("crc32").get<uint32_t>());
}

TEST(RoundToOdd, KeepsWhatF32HoldsExactly) {
  for (const double x :
       {0.0, -0.0, 1.0, -1.5, 65504.0, std::ldexp(1.0, -149), std::ldexp(1.0, 127)}) {
    EXPECT_EQ(std::bit_cast<uint64_t>(static_cast<double>(RoundToOdd(x))),
              std::bit_cast<uint64_t>(x));
  }
  EXPECT_TRUE(std::isnan(RoundToOdd(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_TRUE(std::isinf(RoundToOdd(std::numeric_limits<double>::infinity())));
}

TEST(RoundToOdd, WhatLosesBitsBecomesTheOddNeighbour) {
  for (const double base : {1.0, 1.0 + std::ldexp(1.0, -23), 3.7e-3, std::ldexp(1.0, -140), 1e30}) {
    for (const double sign : {1.0, -1.0}) {
      const double x = sign * std::nextafter(static_cast<double>(static_cast<float>(base)), 1e300);
      const float odd = RoundToOdd(x);
      EXPECT_EQ(BitsOf(odd) & 1u, 1u) << x;
      const auto nearest = static_cast<float>(x);
      EXPECT_LE(std::abs(static_cast<int64_t>(BitsOf(odd)) - static_cast<int64_t>(BitsOf(nearest))),
                1);
    }
  }
  EXPECT_EQ(RoundToOdd(1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(RoundToOdd(-1e-300), -std::numeric_limits<float>::denorm_min());
}

TEST(RoundToOdd, PreventsDoubleRounding) {
  // Just above the tie between two f16: through f32 to nearest it would become the tie, and go to
  // even.
  const double above_tie = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(F32ToF16(static_cast<float>(above_tie)), F32ToF16(1.0f));
  EXPECT_EQ(F32ToF16(RoundToOdd(above_tie)), F32ToF16(1.0f) + 1);
}

}  // namespace
}  // namespace rml::core
