#include "rml/io/gguf.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/io/testing/gguf_bytes.h"
#include "rml/io/testing/test_files.h"

namespace rml::io {
namespace {

using testing::AsBytes;
using ::testing::ElementsAre;
using testing::FilesIn;
using testing::GetFile;
using testing::GgufBytes;
using ::testing::HasSubstr;
using testing::PutFile;
using testing::TempFolder;

constexpr uint32_t kF32 = 0;
constexpr uint32_t kQ4_0 = 2;

// The bytes at an aligned address, as a mapping would have them.
struct Aligned {
  explicit Aligned(std::string_view text) : size(text.size()), words(text.size() / 8 + 1) {
    std::memcpy(words.data(), text.data(), text.size());
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words)).first(size); }
  size_t size;
  std::vector<uint64_t> words;
};

core::Status ParseStatus(const GgufBytes& file) {
  const Aligned aligned(file.bytes());
  auto parsed = GgufFile::Parse(aligned.bytes(), "test.gguf");
  return parsed.status();
}

// The file must be refused as malformed, with a message that names the file and holds `text`.
void ExpectMalformed(const GgufBytes& file, std::string_view text) {
  const core::Status status = ParseStatus(file);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), core::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(text)));
  EXPECT_THAT(std::string(status.message()), HasSubstr("test.gguf"));
}

TEST(Gguf, ReadsEveryKindOfValue) {
  GgufBytes file(0, 13);
  file.Key("u8", GgufType::kU8).Put<uint8_t>(200);
  file.Key("i8", GgufType::kI8).Put<int8_t>(-5);
  file.Key("u16", GgufType::kU16).Put<uint16_t>(60000);
  file.Key("i16", GgufType::kI16).Put<int16_t>(-30000);
  file.U32("u32", 4'000'000'000);
  file.Key("i32", GgufType::kI32).Put<int32_t>(-7);
  file.Key("f32", GgufType::kF32).Put(1.5f);
  file.Key("bool", GgufType::kBool).Put<uint8_t>(1);
  file.Key("string", GgufType::kString).Text("h\xc3\xa9llo");
  file.Key("array", GgufType::kArray).Type(GgufType::kI16).Put<uint64_t>(3);
  file.Put<int16_t>(1).Put<int16_t>(-2).Put<int16_t>(3);
  file.Key("u64", GgufType::kU64).Put<uint64_t>(1ull << 63);
  file.Key("i64", GgufType::kI64).Put<int64_t>(-1);
  file.Key("f64", GgufType::kF64).Put(2.5);
  const Aligned aligned(file.bytes());
  auto gguf = GgufFile::Parse(aligned.bytes(), "test.gguf");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ(*gguf->Get<uint8_t>("u8"), 200);
  EXPECT_EQ(*gguf->Get<int>("i8"), -5);
  EXPECT_EQ(*gguf->Get<int>("u16"), 60000);
  EXPECT_EQ(*gguf->Get<int64_t>("i16"), -30000);
  EXPECT_EQ(*gguf->Get<uint32_t>("u32"), 4'000'000'000);
  EXPECT_EQ(*gguf->Get<int>("i32"), -7);
  EXPECT_EQ(*gguf->Get<float>("f32"), 1.5f);
  EXPECT_EQ(*gguf->Get<double>("f32"), 1.5);
  EXPECT_EQ(*gguf->Get<bool>("bool"), true);
  EXPECT_EQ(*gguf->Get<std::string>("string"), "h\xc3\xa9llo");
  EXPECT_THAT(*gguf->Get<std::vector<int>>("array"), ElementsAre(1, -2, 3));
  EXPECT_EQ(*gguf->Get<uint64_t>("u64"), 1ull << 63);
  EXPECT_EQ(*gguf->Get<int>("i64"), -1);
  EXPECT_EQ(*gguf->Get<float>("f64"), 2.5f);
  EXPECT_EQ(gguf->entries()[8].key, "string");
  EXPECT_EQ(gguf->Find("array")->ToString(), "[1, -2, 3]");
  EXPECT_EQ(gguf->Find("array")->ToString(1), "[1, … 3 × i16]");
}

TEST(Gguf, GettersNameKeyAndActualType) {
  GgufBytes file(0, 3);
  file.U32("number", 300);
  file.Key("text", GgufType::kString).Text("x");
  file.Key("list", GgufType::kArray).Type(GgufType::kString).Put<uint64_t>(1).Text("a");
  const Aligned aligned(file.bytes());
  auto gguf = GgufFile::Parse(aligned.bytes(), "test.gguf");
  ASSERT_TRUE(gguf.ok());
  const auto message = [](const auto& result) { return std::string(result.status().message()); };
  EXPECT_EQ(message(gguf->Get<int>("text")),
            "test.gguf: key \"text\" is of type string, not an integer");
  EXPECT_EQ(message(gguf->Get<int>("list")),
            "test.gguf: key \"list\" is an array of 1 × string, not a single value");
  EXPECT_THAT(message(gguf->Get<uint8_t>("number")), HasSubstr("key \"number\" is 300, more than"));
  EXPECT_THAT(message(gguf->Get<float>("number")),
              HasSubstr("is of type u32, not a floating-point"));
  EXPECT_THAT(message(gguf->Get<std::vector<int>>("number")), HasSubstr("not an array"));
  EXPECT_THAT(message(gguf->Get<std::vector<int>>("list")), HasSubstr("array of 1 × string"));
  EXPECT_EQ(gguf->Get<int>("absent").status().code(), core::StatusCode::kNotFound);
  EXPECT_EQ(*gguf->GetOr<int>("absent", 7), 7);
  EXPECT_FALSE(gguf->GetOr<int>("text", 7).ok());
  EXPECT_EQ((*gguf->GetStrings("list"))[0], "a");
}

TEST(Gguf, NegativeIntegerIsNoUnsignedOne) {
  GgufBytes file(0, 1);
  file.Key("n", GgufType::kI32).Put<int32_t>(-1);
  const Aligned aligned(file.bytes());
  auto gguf = GgufFile::Parse(aligned.bytes(), "test.gguf");
  ASSERT_TRUE(gguf.ok());
  EXPECT_FALSE(gguf->Get<uint32_t>("n").ok());
  EXPECT_FALSE(gguf->Get<uint64_t>("n").ok());
  EXPECT_EQ(*gguf->Get<int8_t>("n"), -1);
}

TEST(Gguf, ReadsTensorsWithReversedDimensions) {
  GgufBytes file(2, 0);
  file.Tensor("a", {3, 2}, kF32, 0).Tensor("b", {32}, kQ4_0, 32).PadTo(32);
  for (int i = 0; i < 6; ++i) file.Put(static_cast<float>(i));
  file.PadTo(32).Zeros(18);
  const Aligned aligned(file.bytes());
  auto gguf = GgufFile::Parse(aligned.bytes(), "test.gguf");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  const GgufTensorInfo* a = gguf->FindTensor("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->shape, (core::Shape{2, 3}));
  EXPECT_EQ(a->dtype, core::DType::kF32);
  ASSERT_EQ(a->data.size(), 24u);
  float last = 0;
  std::memcpy(&last, a->data.data() + 20, 4);
  EXPECT_EQ(last, 5.0f);
  EXPECT_EQ(gguf->FindTensor("b")->data.size(), 18u);
  EXPECT_EQ(gguf->FindTensor("c"), nullptr);
  EXPECT_FALSE(gguf->RequireTensor("c").ok());
}

TEST(Gguf, ScalarsAndEmptyTensorsAreLegal) {
  GgufBytes file(2, 0);
  file.Tensor("empty", {0, 5}, kF32, 32)
      .Tensor("scalar", {}, kF32, 0)
      .PadTo(32)
      .Put(1.0f)
      .PadTo(32);
  const Aligned aligned(file.bytes());
  auto gguf = GgufFile::Parse(aligned.bytes(), "test.gguf");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ(gguf->FindTensor("empty")->data.size(), 0u);
  EXPECT_EQ(gguf->FindTensor("scalar")->data.size(), 4u);
}

TEST(Gguf, TensorsMayStandInAnyOrderWithGapsBetween) {
  GgufBytes file(2, 0);
  file.Tensor("second", {4}, kF32, 128).Tensor("first", {4}, kF32, 32).PadTo(32).Zeros(144);
  EXPECT_TRUE(ParseStatus(file).ok());
}

TEST(Gguf, UnsupportedTypeIsShownAndNotComputedWith) {
  GgufBytes file(1, 0);
  file.Tensor("t", {256}, 23 /* iq4_xs */, 0).PadTo(32).Zeros(136);
  const Aligned aligned(file.bytes());
  auto gguf = GgufFile::Parse(aligned.bytes(), "test.gguf");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  const GgufTensorInfo& tensor = gguf->tensors()[0];
  EXPECT_EQ(tensor.type->name, "iq4_xs");
  EXPECT_FALSE(tensor.dtype.has_value());
  const auto dtype = tensor.RequireDType();
  EXPECT_EQ(dtype.status().code(), core::StatusCode::kUnsupported);
  EXPECT_THAT(std::string(dtype.status().message()), HasSubstr("\"t\" has the type iq4_xs"));
}

TEST(Gguf, ReadsVersion2) {
  GgufBytes file(0, 1, 2);
  file.U32("n", 1);
  const Aligned aligned(file.bytes());
  auto gguf = GgufFile::Parse(aligned.bytes(), "test.gguf");
  ASSERT_TRUE(gguf.ok());
  EXPECT_EQ(gguf->version(), 2u);
}

TEST(Gguf, OtherVersionsAreUnsupported) {
  for (const uint32_t version : {1u, 4u, 1000u}) {
    EXPECT_EQ(ParseStatus(GgufBytes(0, 0, version)).code(), core::StatusCode::kUnsupported)
        << version;
  }
  ExpectMalformed(GgufBytes(0, 0, 0), "version is 0");
}

TEST(Gguf, BigEndianIsUnsupportedAndSaysSo) {
  const core::Status status = ParseStatus(GgufBytes(0, 0, 0x03000000));
  EXPECT_EQ(status.code(), core::StatusCode::kUnsupported);
  EXPECT_THAT(std::string(status.message()), HasSubstr("big endian"));
}

TEST(Gguf, OtherFilesAreNamedAsSuch) {
  const Aligned aligned("PK\x03\x04 something else that is long enough");
  const auto gguf = GgufFile::Parse(aligned.bytes(), "test.gguf");
  EXPECT_THAT(std::string(gguf.status().message()),
              HasSubstr("no GGUF file: it begins with \"PK??\""));
}

TEST(Gguf, EveryTruncationIsAnError) {
  GgufBytes file(1, 3);
  file.U32("general.alignment", 32);
  file.Key("list", GgufType::kArray).Type(GgufType::kString).Put<uint64_t>(2).Text("a").Text("bc");
  file.Key("f", GgufType::kF64).Put(1.0);
  file.Tensor("t", {4}, kF32, 0).PadTo(32).Zeros(16);
  ASSERT_TRUE(ParseStatus(file).ok());
  for (size_t length = 0; length < file.bytes().size(); ++length) {
    const Aligned aligned(std::string_view(file.bytes()).substr(0, length));
    EXPECT_FALSE(GgufFile::Parse(aligned.bytes(), "test.gguf").ok()) << length;
  }
}

TEST(Gguf, StringLengthNear2To63IsAnError) {
  for (const uint64_t length : {~0ull, 1ull << 63, (1ull << 63) - 1, ~0ull - 7}) {
    GgufBytes file(0, 1);
    file.Key("s", GgufType::kString).Put(length).Raw("abc");
    ExpectMalformed(file, "key \"s\" has a length of");
  }
}

TEST(Gguf, KeyLengthNear2To63IsAnError) {
  GgufBytes file(0, 1);
  file.Put(~0ull - 3).Raw("abcdefghijklmnop");
  ExpectMalformed(file, "the name of entry 0 has a length of");
}

TEST(Gguf, ArrayLengthNear2To63IsAnError) {
  for (const GgufType type : {GgufType::kU8, GgufType::kF64, GgufType::kString, GgufType::kArray}) {
    for (const uint64_t count : {~0ull, 1ull << 63, 1ull << 61, (1ull << 61) + 1}) {
      GgufBytes file(0, 1);
      file.Key("a", GgufType::kArray).Type(type).Put(count).Zeros(64);
      ExpectMalformed(file, "key \"a\" is an array of");
    }
  }
}

TEST(Gguf, CountsThatTheFileCannotHoldAreErrors) {
  for (const uint64_t count : {~0ull, 1ull << 62, 1000ull}) {
    GgufBytes entries(0, count);
    entries.Zeros(100);
    ExpectMalformed(entries, "entries, more than");
    GgufBytes tensors(count, 0);
    tensors.Zeros(100);
    ExpectMalformed(tensors, "tensors, more than");
  }
}

TEST(Gguf, UnknownValueTypeIsAnError) {
  GgufBytes file(0, 1);
  file.Text("k").Put<uint32_t>(13).Zeros(16);
  ExpectMalformed(file, "key \"k\" has the unknown type 13");
  GgufBytes array(0, 1);
  array.Key("k", GgufType::kArray).Put<uint32_t>(99).Zeros(16);
  ExpectMalformed(array, "array of the unknown type 99");
}

TEST(Gguf, BoolOtherThan0And1IsAnError) {
  GgufBytes file(0, 1);
  file.Key("b", GgufType::kBool).Put<uint8_t>(2);
  ExpectMalformed(file, "neither 0 nor 1");
}

TEST(Gguf, ArraysMayNestAFewTimes) {
  GgufBytes file(0, 1);
  file.Key("a", GgufType::kArray).Type(GgufType::kArray).Put<uint64_t>(2);
  file.Type(GgufType::kU8).Put<uint64_t>(2).Put<uint8_t>(1).Put<uint8_t>(2);
  file.Type(GgufType::kString).Put<uint64_t>(1).Text("x");
  const Aligned aligned(file.bytes());
  auto gguf = GgufFile::Parse(aligned.bytes(), "test.gguf");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  const auto arrays = *gguf->Find("a")->Arrays();
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_THAT(*arrays[0].As<std::vector<int>>(), ElementsAre(1, 2));
  EXPECT_EQ(gguf->Find("a")->ToString(), "[[1, 2], [\"x\"]]");
}

TEST(Gguf, ArraysThatNestDeeplyAreAnError) {
  GgufBytes file(0, 1);
  file.Key("a", GgufType::kArray);
  for (int i = 0; i < 100'000; ++i) file.Type(GgufType::kArray).Put<uint64_t>(1);
  file.Type(GgufType::kU8).Put<uint64_t>(1).Put<uint8_t>(1);
  ExpectMalformed(file, "nests arrays deeper than");
}

TEST(Gguf, EmptyKeyIsAnError) {
  GgufBytes file(0, 1);
  file.U32("", 1).Zeros(8);
  ExpectMalformed(file, "byte 24: the name of entry 0 is empty");
}

TEST(Gguf, KeyOfInvalidUtf8IsAnError) {
  GgufBytes file(0, 1);
  file.U32("a\xff", 1);
  ExpectMalformed(file, "the name of entry 0 is not UTF-8");
}

TEST(Gguf, KeyLongerThanTheFormatAllowsIsAnError) {
  GgufBytes file(0, 1);
  file.U32(std::string(65'536, 'k'), 1);
  ExpectMalformed(file, "more than 65535");
}

TEST(Gguf, DuplicateKeyIsAnError) {
  GgufBytes file(0, 3);
  file.U32("a", 1).U32("b", 2).U32("a", 3);
  ExpectMalformed(file, "key \"a\" appears twice");
}

TEST(Gguf, DuplicateTensorIsAnError) {
  GgufBytes file(2, 0);
  file.Tensor("t", {4}, kF32, 0).Tensor("t", {4}, kF32, 32).PadTo(32).Zeros(64);
  ExpectMalformed(file, "tensor \"t\" appears twice");
}

TEST(Gguf, TensorNameMustBeTextOfOneByteOrMore) {
  GgufBytes empty(1, 0);
  empty.Tensor("", {4}, kF32, 0).PadTo(32).Zeros(16);
  ExpectMalformed(empty, "the name of tensor 0 is empty");
  GgufBytes invalid(1, 0);
  invalid.Tensor("\xc3", {4}, kF32, 0).PadTo(32).Zeros(16);
  ExpectMalformed(invalid, "is not UTF-8");
}

TEST(Gguf, AlignmentZeroIsAnError) {
  ExpectMalformed(GgufBytes(0, 1).U32("general.alignment", 0), "not a power of two");
}

TEST(Gguf, AlignmentThatIsNoPowerOfTwoIsAnError) {
  for (const uint32_t alignment : {3u, 24u, 33u, 0xffffffffu}) {
    ExpectMalformed(GgufBytes(0, 1).U32("general.alignment", alignment), "not a power of two");
  }
}

TEST(Gguf, AlignmentTooSmallForElementsIsAnError) {
  for (const uint32_t alignment : {1u, 2u, 4u}) {
    ExpectMalformed(GgufBytes(0, 1).U32("general.alignment", alignment), "at least 8");
  }
}

TEST(Gguf, AlignmentOfTheWrongTypeIsAnError) {
  GgufBytes wide(0, 1);
  wide.Key("general.alignment", GgufType::kU64).Put<uint64_t>(32);
  ExpectMalformed(wide, "is of type u64, not u32");
  GgufBytes text(0, 1);
  text.Key("general.alignment", GgufType::kString).Text("32");
  ExpectMalformed(text, "is of type string, not u32");
  GgufBytes array(0, 1);
  array.Key("general.alignment", GgufType::kArray)
      .Type(GgufType::kU32)
      .Put<uint64_t>(1)
      .Put<uint32_t>(32);
  ExpectMalformed(array, "is of type array, not u32");
}

TEST(Gguf, OtherAlignmentsMoveTheData) {
  GgufBytes file(1, 1);
  file.U32("general.alignment", 128).Tensor("t", {1}, kF32, 0).PadTo(128).Put(3.0f);
  const Aligned aligned(file.bytes());
  auto gguf = GgufFile::Parse(aligned.bytes(), "test.gguf");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ(gguf->tensors()[0].file_offset, 128u);
  EXPECT_EQ(gguf->alignment(), 128u);
}

TEST(Gguf, PaddingPastTheEndIsAnError) {
  GgufBytes file(1, 1);
  file.U32("general.alignment", 1u << 31).Tensor("t", {1}, kF32, 0).Zeros(64);
  ExpectMalformed(file, "truncated");
}

TEST(Gguf, OffsetThatWrapsIsAnError) {
  for (const uint64_t offset : {~0ull - 31, 1ull << 63, ~0ull - 63}) {
    GgufBytes file(1, 0);
    file.Tensor("t", {16}, kF32, offset).PadTo(32).Zeros(64);
    EXPECT_FALSE(ParseStatus(file).ok()) << offset;
  }
}

TEST(Gguf, OffsetOffTheAlignmentIsAnError) {
  GgufBytes file(1, 0);
  file.Tensor("t", {1}, kF32, 4).PadTo(32).Zeros(64);
  ExpectMalformed(file, "offset 4, not a multiple of the alignment 32");
}

TEST(Gguf, MoreThanFourDimensionsAreAnError) {
  GgufBytes file(1, 0);
  file.Tensor("t", {1, 1, 1, 1, 1}, kF32, 0).PadTo(32).Zeros(64);
  ExpectMalformed(file, "5 dimensions, more than 4");
  GgufBytes huge(1, 0);
  huge.Text("t").Put<uint32_t>(0xffffffff).Zeros(64);
  ExpectMalformed(huge, "4294967295 dimensions");
}

TEST(Gguf, NegativeDimensionIsAnError) {
  GgufBytes file(1, 0);
  file.Tensor("t", {4, -1}, kF32, 0).PadTo(32).Zeros(64);
  ExpectMalformed(file, "tensor \"t\": dimension 0 is negative");
}

TEST(Gguf, ProductOfDimensionsThatWrapsIsAnError) {
  const std::vector<std::vector<int64_t>> cases = {
      {1ll << 32, 1ll << 32}, {1ll << 62, 4}, {1ll << 31, 1ll << 31, 4}, {0, 1ll << 62, 1ll << 62}};
  for (const std::vector<int64_t>& dims : cases) {
    GgufBytes file(1, 0);
    file.Tensor("t", dims, kF32, 0).PadTo(32).Zeros(64);
    ExpectMalformed(file, "overflows 64 bits");
  }
}

TEST(Gguf, BytesOfATensorThatWrapAreAnError) {
  GgufBytes file(1, 0);
  file.Tensor("t", {1ll << 62}, 28 /* f64 */, 0).PadTo(32).Zeros(64);
  ExpectMalformed(file, "ends past 2^64");
}

TEST(Gguf, RowThatIsNoMultipleOfItsBlockIsAnError) {
  GgufBytes file(1, 0);
  file.Tensor("t", {16, 2}, kQ4_0, 0).PadTo(32).Zeros(64);
  ExpectMalformed(file, "rows of 16 elements, not a multiple of the 32 in a block of q4_0");
  GgufBytes scalar(1, 0);
  scalar.Tensor("t", {}, kQ4_0, 0).PadTo(32).Zeros(64);
  ExpectMalformed(scalar, "rows of 1 elements");
}

TEST(Gguf, UnknownTensorTypeIsUnsupportedAndNamed) {
  for (const uint32_t type : {4u, 31u, 99u, 0xffffffffu}) {
    GgufBytes file(1, 0);
    file.Tensor("t", {32}, type, 0).PadTo(32).Zeros(128);
    const core::Status status = ParseStatus(file);
    EXPECT_EQ(status.code(), core::StatusCode::kUnsupported);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(core::StrCat("unknown type number ", type)));
  }
}

TEST(Gguf, TensorPastTheEndIsAnError) {
  GgufBytes file(1, 0);
  file.Tensor("t", {17}, kF32, 0).PadTo(32).Zeros(64);
  ExpectMalformed(file, "tensor \"t\" takes bytes");
}

TEST(Gguf, OverlappingTensorsAreAnError) {
  GgufBytes file(3, 0);
  file.Tensor("a", {16}, kF32, 0)
      .Tensor("b", {4}, kF32, 32)
      .Tensor("c", {4}, kF32, 64)
      .PadTo(32)
      .Zeros(96);
  ExpectMalformed(file, "tensors \"a\" and \"b\" overlap");
}

TEST(Gguf, HostileNamesArePrintedSafely) {
  GgufBytes file(0, 2);
  file.U32("a\x1b[31m\n", 1).U32("a\x1b[31m\n", 2);
  ExpectMalformed(file, "key \"a?[31m?\" appears twice");
}

// --- Files in parts.

std::string Part(uint32_t number, uint32_t count, std::string_view tensor, int total_tensors) {
  GgufBytes file(1, number == 0 ? 4u : 3u);
  file.Key("split.no", GgufType::kU16).Put(static_cast<uint16_t>(number));
  file.Key("split.count", GgufType::kU16).Put(static_cast<uint16_t>(count));
  file.Key("split.tensors.count", GgufType::kI32).Put(total_tensors);
  if (number == 0) file.Key("general.architecture", GgufType::kString).Text("llama");
  file.Tensor(tensor, {1}, kF32, 0).PadTo(32).Put(static_cast<float>(number));
  return file.bytes();
}

TEST(GgufParts, OpenTogetherThroughTheFirst) {
  const TempFolder folder;
  PutFile(folder / "m-00001-of-00003.gguf", Part(0, 3, "a", 3));
  PutFile(folder / "m-00002-of-00003.gguf", Part(1, 3, "b", 3));
  PutFile(folder / "m-00003-of-00003.gguf", Part(2, 3, "c", 3));
  auto gguf = GgufFile::Open(folder / "m-00001-of-00003.gguf");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ(gguf->part_count(), 3);
  ASSERT_EQ(gguf->tensors().size(), 3u);
  const GgufTensorInfo* c = gguf->FindTensor("c");
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->part, 2);
  float value = 0;
  std::memcpy(&value, c->data.data(), 4);
  EXPECT_EQ(value, 2.0f);
  EXPECT_EQ(*gguf->Get<std::string>("general.architecture"), "llama");
  gguf->Release(*c);
  gguf->Advise(Access::kWillNeed);
  uint64_t total = 0;
  for (int i = 0; i < 3; ++i) total += gguf->part_file(i)->size();
  EXPECT_EQ(gguf->total_bytes(), total);
  EXPECT_EQ(gguf->part_file(3), nullptr);
}

TEST(GgufParts, MissingPartIsNamed) {
  const TempFolder folder;
  PutFile(folder / "m-00001-of-00002.gguf", Part(0, 2, "a", 2));
  const auto gguf = GgufFile::Open(folder / "m-00001-of-00002.gguf");
  ASSERT_EQ(gguf.status().code(), core::StatusCode::kNotFound);
  EXPECT_THAT(std::string(gguf.status().message()), HasSubstr("m-00002-of-00002.gguf"));
}

TEST(GgufParts, LaterPartNamesTheFirst) {
  const TempFolder folder;
  PutFile(folder / "m-00002-of-00002.gguf", Part(1, 2, "b", 2));
  const auto gguf = GgufFile::Open(folder / "m-00002-of-00002.gguf");
  EXPECT_THAT(std::string(gguf.status().message()), HasSubstr("open the first one"));
  EXPECT_THAT(std::string(gguf.status().message()), HasSubstr("m-00001-of-00002.gguf"));
}

TEST(GgufParts, RenamedPartIsAnError) {
  const TempFolder folder;
  PutFile(folder / "model.gguf", Part(0, 2, "a", 2));
  const auto gguf = GgufFile::Open(folder / "model.gguf");
  EXPECT_THAT(std::string(gguf.status().message()), HasSubstr("must end in -00001-of-00002.gguf"));
}

TEST(GgufParts, PartsOfDifferentModelsAreAnError) {
  const TempFolder folder;
  PutFile(folder / "m-00001-of-00002.gguf", Part(0, 2, "a", 2));
  PutFile(folder / "m-00002-of-00002.gguf", Part(1, 3, "b", 2));
  EXPECT_FALSE(GgufFile::Open(folder / "m-00001-of-00002.gguf").ok());
}

TEST(GgufParts, WrongTensorCountIsAnError) {
  const TempFolder folder;
  PutFile(folder / "m-00001-of-00002.gguf", Part(0, 2, "a", 5));
  PutFile(folder / "m-00002-of-00002.gguf", Part(1, 2, "b", 5));
  const auto gguf = GgufFile::Open(folder / "m-00001-of-00002.gguf");
  EXPECT_THAT(std::string(gguf.status().message()), HasSubstr("promises 5 tensors"));
}

TEST(GgufParts, TensorInTwoPartsIsAnError) {
  const TempFolder folder;
  PutFile(folder / "m-00001-of-00002.gguf", Part(0, 2, "a", 2));
  PutFile(folder / "m-00002-of-00002.gguf", Part(1, 2, "a", 2));
  const auto gguf = GgufFile::Open(folder / "m-00001-of-00002.gguf");
  EXPECT_THAT(std::string(gguf.status().message()), HasSubstr("appears in two parts"));
}

TEST(GgufParts, CannotBeParsedFromMemory) {
  const Aligned aligned(Part(0, 2, "a", 2));
  EXPECT_FALSE(GgufFile::Parse(aligned.bytes(), "m").ok());
}

// --- Real files.

TEST(GgufFiles, Stories260kOpens) {
  auto gguf = GgufFile::Open(RML_TESTDATA "/stories260k.gguf");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ(*gguf->Get<std::string>("general.architecture"), "llama");
  EXPECT_EQ(gguf->GetStrings("tokenizer.ggml.tokens")->size(), 512u);
  EXPECT_EQ(gguf->tensors().size(), 47u);
  EXPECT_EQ(gguf->FindTensor("blk.4.ffn_down.weight")->shape, (core::Shape{64, 172}));
}

TEST(GgufFiles, FileOfThePythonPackageHasItsValues) {
  auto gguf = GgufFile::Open(RML_TESTDATA "/gguf/python-writer.gguf");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ(*gguf->Get<std::string>("general.architecture"), "test");
  EXPECT_EQ(*gguf->Get<uint8_t>("test.u8"), 200);
  EXPECT_EQ(*gguf->Get<int8_t>("test.i8"), -100);
  EXPECT_EQ(*gguf->Get<uint64_t>("test.u64"), 18'000'000'000'000'000'000ull);
  EXPECT_EQ(*gguf->Get<int64_t>("test.i64"), -9'000'000'000'000'000'000ll);
  EXPECT_EQ(*gguf->Get<double>("test.f64"), 0.1);
  EXPECT_EQ(*gguf->Get<bool>("test.bool"), true);
  EXPECT_EQ(*gguf->Get<std::string>("test.string"), "na\xc3\xafve \xe2\x98\x83");
  EXPECT_THAT(*gguf->Get<std::vector<int>>("test.ints"), ElementsAre(1, -2, 3));
  EXPECT_THAT(*gguf->Get<std::vector<std::string>>("test.strings"), ElementsAre("a", "",
                                                                                "\xe2\x96\x81"
                                                                                "c"));
  EXPECT_THAT(*gguf->Get<std::vector<float>>("test.floats"), ElementsAre(0.5f, -1.0f));
  const GgufTensorInfo* f32 = gguf->FindTensor("f32");
  ASSERT_NE(f32, nullptr);
  EXPECT_EQ(f32->shape, (core::Shape{2, 3}));
  float values[6];
  std::memcpy(values, f32->data.data(), sizeof(values));
  EXPECT_THAT(values, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(gguf->FindTensor("f16")->dtype, core::DType::kF16);
  EXPECT_EQ(gguf->FindTensor("q8_0")->dtype, core::DType::kQ8_0);
  EXPECT_EQ(gguf->FindTensor("q8_0")->shape, (core::Shape{2, 64}));
}

TEST(GgufFiles, RealFilesGetTheRightVerdict) {
  RML_DATA_FOLDER_OR_SKIP(data);
  auto tiny = GgufFile::Open(data + "/gguf/tiny-weightless.gguf");
  ASSERT_TRUE(tiny.ok()) << tiny.status().message();
  EXPECT_EQ(tiny->entries().size(), 7u);
  EXPECT_EQ(tiny->tensors().size(), 4u);
  auto empty = GgufFile::Open(data + "/gguf/empty-weight-inspect.gguf");
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->entries().size(), 1u);
  const auto truncated = GgufFile::Open(data + "/gguf/tiny-weight-inspect.gguf");
  EXPECT_THAT(std::string(truncated.status().message()), HasSubstr("truncated"));
  for (const std::string& path : FilesIn(data + "/gguf/mini")) {
    EXPECT_TRUE(GgufFile::Open(path).ok()) << path;
  }
  size_t vocabularies = 0;
  for (const std::string& path : FilesIn(data + "/tokenizers/gguf-vocab")) {
    if (!path.ends_with(".gguf")) continue;
    auto gguf = GgufFile::Open(path);
    ASSERT_TRUE(gguf.ok()) << gguf.status().message();
    EXPECT_GT(gguf->GetStrings("tokenizer.ggml.tokens")->size(), 1000u);
    ++vocabularies;
  }
  EXPECT_GT(vocabularies, 5u);
}

TEST(GgufFiles, FuzzedFilesEndInAVerdict) {
  RML_DATA_FOLDER_OR_SKIP(data);
  size_t accepted = 0;
  size_t refused = 0;
  for (const std::string folder : {"/gguf/fuzz-corpus", "/gguf/fuzz-crashes"}) {
    for (const std::string& path : FilesIn(data + folder)) {
      const auto gguf = GgufFile::Open(path);
      (gguf.ok() ? accepted : refused) += 1;
      if (!gguf.ok()) {
        EXPECT_THAT(std::string(gguf.status().message()), HasSubstr(path));
      }
    }
  }
  EXPECT_GE(accepted + refused, 227u);
  EXPECT_GT(refused, accepted);
}

}  // namespace
}  // namespace rml::io
