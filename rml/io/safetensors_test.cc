#include "rml/io/safetensors.h"

#include <algorithm>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/io/json.h"
#include "rml/io/safetensors_writer.h"
#include "rml/io/testing/test_files.h"

namespace rml::io {
namespace {

using testing::AsBytes;
using ::testing::ElementsAre;
using testing::GetFile;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::PutFile;
using testing::TempFolder;

// A file of this header and `data_bytes` zeros.
std::string FileOf(std::string header, size_t data_bytes) {
  const uint64_t length = header.size();
  std::string file(reinterpret_cast<const char*>(&length), 8);
  return file + header + std::string(data_bytes, '\0');
}

core::Status ParseStatus(std::string_view file) {
  return SafetensorsFile::Parse(AsBytes(file), "test.safetensors").status();
}

void ExpectMalformed(std::string_view file, std::string_view text) {
  const core::Status status = ParseStatus(file);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), core::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(text)));
  EXPECT_THAT(std::string(status.message()), HasSubstr("test.safetensors"));
}

TEST(Safetensors, ReadsTensorsAndMetadata) {
  const std::string file = FileOf(
      R"({"__metadata__":{"format":"pt","a":""},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
      R"("b":{"dtype":"BF16","shape":[1],"data_offsets":[24,26]}})",
      26);
  auto parsed = SafetensorsFile::Parse(AsBytes(file), "test");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_THAT(parsed->metadata(), ElementsAre(Pair("format", "pt"), Pair("a", "")));
  ASSERT_EQ(parsed->tensors().size(), 2u);
  EXPECT_EQ(parsed->tensors()[0].name, "w");
  EXPECT_EQ(parsed->tensors()[0].shape, (core::Shape{2, 3}));
  EXPECT_EQ(parsed->Find("b")->dtype, core::DType::kBF16);
  EXPECT_EQ(parsed->Find("b")->file_offset, file.size() - 2);
  EXPECT_EQ(parsed->Find("c"), nullptr);
  EXPECT_EQ(parsed->Require("c").status().code(), core::StatusCode::kNotFound);
}

TEST(Safetensors, ReadsEveryDType) {
  const std::vector<std::pair<std::string, size_t>> dtypes = {
      {"F64", 8},     {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F8_E4M3", 1},
      {"F8_E5M2", 1}, {"I64", 8}, {"I32", 4}, {"I16", 2},  {"I8", 1},
      {"U64", 8},     {"U32", 4}, {"U16", 2}, {"U8", 1},   {"BOOL", 1}};
  for (const auto& [name, size] : dtypes) {
    const std::string file =
        FileOf(core::StrCat(R"({"t":{"dtype":")", name, R"(","shape":[3],"data_offsets":[0,)",
                            3 * size, "]}}"),
               3 * size);
    auto parsed = SafetensorsFile::Parse(AsBytes(file), "test");
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(SafetensorsDTypeName(parsed->tensors()[0].dtype), name);
  }
}

TEST(Safetensors, EmptyFileWithoutTensorsIsLegal) {
  EXPECT_TRUE(ParseStatus(FileOf("{}", 0)).ok());
  EXPECT_TRUE(ParseStatus(FileOf("{}      ", 0)).ok());
}

TEST(Safetensors, EmptyTensorsLoad) {
  const std::string file = FileOf(
      R"({"a":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
      R"("c":{"dtype":"F32","shape":[0],"data_offsets":[2,2]},"d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
      2);
  auto parsed = SafetensorsFile::Parse(AsBytes(file), "test");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->Find("a")->data.size(), 0u);
  EXPECT_EQ(parsed->Find("b")->data.size(), 2u);
}

TEST(Safetensors, FileShorterThanItsLengthFieldIsAnError) {
  for (size_t size = 0; size < 8; ++size) ExpectMalformed(std::string(size, 'x'), "only");
}

TEST(Safetensors, HeaderLengthThatWouldSizeAnAllocationIsAnError) {
  for (const uint64_t length : {~0ull, 1ull << 63, 1ull << 40, 100'000'001ull}) {
    std::string file = FileOf("{}", 100);
    std::memcpy(file.data(), &length, 8);
    ExpectMalformed(file, "more than the limit of 100000000");
  }
  std::string file = FileOf("{}", 100);
  const uint64_t length = 103;
  std::memcpy(file.data(), &length, 8);
  ExpectMalformed(file, "length of 103 bytes, and the file has only 102");
}

TEST(Safetensors, HeaderThatIsNoObjectIsAnError) {
  ExpectMalformed(FileOf("[]", 0), "does not begin with {");
  ExpectMalformed(FileOf(" {}", 0), "does not begin with {");
  ExpectMalformed(FileOf("", 0), "does not begin with {");
  ExpectMalformed(FileOf("{", 0), "malformed JSON");
  ExpectMalformed(FileOf("{}x", 0), "text after the value");
  ExpectMalformed(FileOf("{\"\xff\":1}", 0), "not UTF-8");
}

TEST(Safetensors, DuplicateNamesAreAnError) {
  ExpectMalformed(FileOf(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                         R"("t":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                         2),
                  "already has the key \"t\"");
  ExpectMalformed(
      FileOf(R"({"t":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1),
      "already has the key \"dtype\"");
}

TEST(Safetensors, HeaderThatNestsDeeplyIsAnError) {
  ExpectMalformed(
      FileOf("{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}", 0),
      "nested deeper");
}

TEST(Safetensors, MetadataMustBeText) {
  ExpectMalformed(FileOf(R"({"__metadata__":[]})", 0), "no JSON object");
  ExpectMalformed(FileOf(R"({"__metadata__":{"a":1}})", 0),
                  "\"a\" is of type integer, not a string");
}

TEST(Safetensors, ReversedOffsetsAreAnError) {
  ExpectMalformed(FileOf(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1),
                  "begins at 1, after its end at 0");
}

TEST(Safetensors, NegativeAndFractionalNumbersAreErrors) {
  ExpectMalformed(FileOf(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]}})", 1),
                  "-1 in its data_offsets");
  ExpectMalformed(FileOf(R"({"t":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1),
                  "-1 in its shape");
  ExpectMalformed(FileOf(R"({"t":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1),
                  "1.0 in its shape");
  ExpectMalformed(FileOf(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1e0]}})", 1),
                  "in its data_offsets");
  ExpectMalformed(FileOf(R"({"t":{"dtype":"U8","shape":["1"],"data_offsets":[0,1]}})", 1),
                  "in its shape");
  ExpectMalformed(
      FileOf(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,18446744073709551617]}})", 1),
      "in its data_offsets");
}

TEST(Safetensors, SpanOtherThanShapeTimesDTypeIsAnError) {
  ExpectMalformed(FileOf(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4),
                  "takes 4 bytes, which is not [2] × f32");
  ExpectMalformed(FileOf(R"({"t":{"dtype":"F32","shape":[0],"data_offsets":[0,4]}})", 4),
                  "takes 4 bytes");
}

TEST(Safetensors, ProductThatWrapsToZeroIsAnError) {
  ExpectMalformed(
      FileOf(R"({"t":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0),
      "overflows 64 bits");
  ExpectMalformed(
      FileOf(R"({"t":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})", 0),
      "takes 0 bytes, which is not");
}

TEST(Safetensors, TooManyDimensionsAreAnError) {
  ExpectMalformed(
      FileOf(R"({"t":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})", 1),
      "a shape of 9 dimensions");
}

TEST(Safetensors, UnknownDTypeIsAnErrorAndAKnownOneUnsupported) {
  ExpectMalformed(FileOf(R"({"t":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", 4),
                  "unknown dtype \"F31\"");
  ExpectMalformed(FileOf(R"({"t":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", 4),
                  "no usable dtype");
  const auto status =
      ParseStatus(FileOf(R"({"t":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})", 8));
  EXPECT_EQ(status.code(), core::StatusCode::kUnsupported);
}

TEST(Safetensors, MissingFieldsAreErrors) {
  ExpectMalformed(FileOf(R"({"t":1})", 0), "described by no JSON object");
  ExpectMalformed(FileOf(R"({"t":{}})", 0), "no usable dtype");
  ExpectMalformed(FileOf(R"({"t":{"dtype":"U8"}})", 0), "no array \"shape\"");
  ExpectMalformed(FileOf(R"({"t":{"dtype":"U8","shape":[1]}})", 0), "no array \"data_offsets\"");
  ExpectMalformed(FileOf(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})", 1),
                  "no array \"data_offsets\"");
  ExpectMalformed(FileOf(R"({"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1),
                  "empty name");
}

TEST(Safetensors, OverlapsAreAnError) {
  ExpectMalformed(FileOf(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                         R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
                         6),
                  "tensor \"b\" overlaps tensor \"a\"");
  ExpectMalformed(FileOf(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                         R"("b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
                         4),
                  "overlaps");
}

TEST(Safetensors, GapsAreAnError) {
  ExpectMalformed(FileOf(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2),
                  "leaves a gap before it");
  ExpectMalformed(FileOf(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 2),
                  "belong to none");
  ExpectMalformed(FileOf("{}", 5), "5 bytes after the last tensor");
}

TEST(Safetensors, TruncatedDataIsAnError) {
  ExpectMalformed(FileOf(R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", 8),
                  "the file is truncated");
}

TEST(Safetensors, MisalignedTensorsAreMarked) {
  // The header's length is a multiple of 8 here, and F32 begins after one byte of U8.
  std::string header =
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::string file = FileOf(header, 5);
  std::vector<uint64_t> aligned(file.size() / 8 + 1);
  std::memcpy(aligned.data(), file.data(), file.size());
  auto parsed =
      SafetensorsFile::Parse(std::as_bytes(std::span(aligned)).first(file.size()), "test");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_TRUE(parsed->Find("a")->aligned);
  EXPECT_FALSE(parsed->Find("b")->aligned);
}

// --- Writing.

void AddGoldenTensors(SafetensorsWriter* writer, bool reversed) {
  struct Item {
    std::string name;
    core::DType dtype;
    core::Shape shape;
    std::string bytes;
  };
  const auto raw = [](const auto& values) {
    return std::string(reinterpret_cast<const char*>(values.data()),
                       values.size() * sizeof(values[0]));
  };
  using enum core::DType;
  std::vector<Item> items = {
      {"zeta.weight", kF32, {2, 3}, raw(std::vector<float>{0, 1, 2, 3, 4, 5})},
      {"alpha.bool", kBool, {3}, std::string("\1\0\1", 3)},
      {"beta.i64", kI64, {2}, raw(std::vector<int64_t>{-1, 1ll << 62})},
      {"gamma.f16", kF16, {2, 1}, raw(std::vector<uint16_t>{0x3800, 0x3e00})},
      {"bf16", kBF16, {3}, raw(std::vector<uint16_t>{0x3f80, 0xc000, 0x4040})},
      {"empty", kF32, {0, 4}, ""},
      {"scalar", kU16, {}, raw(std::vector<uint16_t>{7})},
      {"u8", kU8, {5}, std::string("\0\1\2\3\4", 5)},
      {"odd \"name\"\n\xc3\xa9", kF64, {1}, raw(std::vector<double>{1.0})},
  };
  if (reversed) std::ranges::reverse(items);
  for (const Item& item : items) {
    const auto status =
        writer->AddTensor(item.name, item.dtype, item.shape,
                          [bytes = item.bytes](ByteSink sink) { return sink(AsBytes(bytes)); });
    ASSERT_TRUE(status.ok()) << status.message();
  }
}

TEST(SafetensorsWriter, MatchesTheReferenceByteForByte) {
  for (const bool reversed : {false, true}) {
    SafetensorsWriter writer;
    ASSERT_TRUE(writer.SetMetadata("format", "pt").ok());
    AddGoldenTensors(&writer, reversed);
    const TempFolder folder;
    const auto status = writer.Write(folder / "f.safetensors");
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(GetFile(folder / "f.safetensors"),
              GetFile(RML_TESTDATA "/safetensors/python-writer.safetensors"));
  }
}

TEST(SafetensorsWriter, WhatIsWrittenIsRead) {
  auto original = SafetensorsFile::Open(RML_TESTDATA "/safetensors/python-writer.safetensors");
  ASSERT_TRUE(original.ok()) << original.status().message();
  SafetensorsWriter writer;
  for (const SafetensorsTensor& tensor : original->tensors()) {
    ASSERT_TRUE(writer.AddTensor(tensor.name, tensor.dtype, tensor.shape, tensor.data).ok());
  }
  auto bytes = writer.ToBytes();
  ASSERT_TRUE(bytes.ok());
  auto copy = SafetensorsFile::Parse(*bytes, "copy");
  ASSERT_TRUE(copy.ok()) << copy.status().message();
  ASSERT_EQ(copy->tensors().size(), original->tensors().size());
  for (const SafetensorsTensor& tensor : original->tensors()) {
    const SafetensorsTensor* other = copy->Find(tensor.name);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(other->dtype, tensor.dtype);
    EXPECT_EQ(other->shape, tensor.shape);
    EXPECT_TRUE(other->aligned);
    EXPECT_TRUE(std::ranges::equal(other->data, tensor.data));
  }
}

TEST(SafetensorsWriter, RefusesWhatNoReaderWouldTake) {
  SafetensorsWriter writer;
  const std::string_view four("1234");
  EXPECT_FALSE(writer.AddTensor("", core::DType::kU8, {4}, AsBytes(four)).ok());
  EXPECT_FALSE(writer.AddTensor("__metadata__", core::DType::kU8, {4}, AsBytes(four)).ok());
  EXPECT_FALSE(writer.AddTensor("\xff", core::DType::kU8, {4}, AsBytes(four)).ok());
  EXPECT_FALSE(writer.AddTensor("size", core::DType::kU8, {5}, AsBytes(four)).ok());
  EXPECT_FALSE(
      writer.AddTensor("type", core::DType::kQ4_0, {32}, AsBytes("123456789012345678")).ok());
  EXPECT_TRUE(writer.AddTensor("t", core::DType::kU8, {4}, AsBytes(four)).ok());
  EXPECT_FALSE(writer.AddTensor("t", core::DType::kU8, {4}, AsBytes(four)).ok());
  EXPECT_TRUE(writer.SetMetadata("a", "b").ok());
  EXPECT_FALSE(writer.SetMetadata("a", "c").ok());
  auto bytes = writer.ToBytes();
  ASSERT_TRUE(bytes.ok());
  EXPECT_TRUE(SafetensorsFile::Parse(*bytes, "t").ok());
}

// --- Folders.

TEST(SafetensorsFolder, ShardsAreWrittenAndRead) {
  const TempFolder folder;
  SafetensorsWriter writer;
  ASSERT_TRUE(writer.SetMetadata("format", "pt").ok());
  AddGoldenTensors(&writer, false);
  ASSERT_TRUE(writer.WriteSharded(folder.path(), 30).ok());
  EXPECT_TRUE(std::filesystem::exists(folder / "model.safetensors.index.json"));
  auto file = SafetensorsFile::Open(folder.path());
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_GT(file->part_count(), 2);
  EXPECT_THAT(file->metadata(), ElementsAre(Pair("format", "pt")));
  auto golden = SafetensorsFile::Open(RML_TESTDATA "/safetensors/python-writer.safetensors");
  ASSERT_TRUE(golden.ok());
  ASSERT_EQ(file->tensors().size(), golden->tensors().size());
  for (const SafetensorsTensor& tensor : golden->tensors()) {
    ASSERT_NE(file->Find(tensor.name), nullptr) << tensor.name;
    EXPECT_TRUE(std::ranges::equal(file->Find(tensor.name)->data, tensor.data));
  }
  file->Advise(Access::kWillNeed);
  file->Release(file->tensors()[0]);
}

TEST(SafetensorsFolder, OneShardNeedsNoIndex) {
  const TempFolder folder;
  SafetensorsWriter writer;
  AddGoldenTensors(&writer, false);
  ASSERT_TRUE(writer.WriteSharded(folder.path(), 1 << 20).ok());
  EXPECT_EQ(folder.entry_count(), 1u);
  auto file = SafetensorsFile::Open(folder.path());
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->name(), folder / "model.safetensors");
}

TEST(SafetensorsFolder, FolderWithoutWeightsSaysWhatItLooksFor) {
  const TempFolder folder;
  const auto file = SafetensorsFile::Open(folder.path());
  EXPECT_EQ(file.status().code(), core::StatusCode::kNotFound);
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr("neither model.safetensors.index.json nor"));
}

// A folder with one good shard, and an index that names `shard` for tensor t.
class IndexedFolder {
 public:
  explicit IndexedFolder(const std::string& shard) {
    PutFile(outside_ / "outside.safetensors",
            FileOf(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1));
    PutFile(folder_ / "a.safetensors",
            FileOf(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1));
    Json map;
    map.Set("t", shard);
    Json index;
    index.Set("weight_map", std::move(map));
    PutFile(folder_ / "model.safetensors.index.json", index.Dump());
  }
  std::string Error() const {
    return std::string(SafetensorsFile::Open(folder_.path()).status().message());
  }
  const TempFolder& folder() const { return folder_; }
  const TempFolder& outside() const { return outside_; }

 private:
  TempFolder folder_;
  TempFolder outside_;
};

TEST(SafetensorsFolder, IndexMayNameFilesOfItsFolder) {
  EXPECT_EQ(IndexedFolder("a.safetensors").Error(), "");
}

TEST(SafetensorsFolder, IndexMayNotClimbOut) {
  EXPECT_THAT(IndexedFolder("../a.safetensors").Error(), HasSubstr("leads out of the folder"));
  EXPECT_THAT(IndexedFolder("x/../../a.safetensors").Error(), HasSubstr("leads out of the folder"));
  EXPECT_THAT(IndexedFolder("..").Error(), HasSubstr("leads out of the folder"));
  EXPECT_THAT(IndexedFolder("").Error(), HasSubstr("leads out of the folder"));
}

TEST(SafetensorsFolder, IndexMayNotNameAbsolutePaths) {
  EXPECT_THAT(IndexedFolder("/etc/passwd").Error(), HasSubstr("leads out of the folder"));
}

TEST(SafetensorsFolder, IndexMayNotFollowALinkOut) {
  IndexedFolder indexed("link.safetensors");
  std::filesystem::create_symlink(indexed.outside() / "outside.safetensors",
                                  indexed.folder() / "link.safetensors");
  EXPECT_THAT(indexed.Error(), HasSubstr("is a link out of the folder"));
  IndexedFolder through("dir/outside.safetensors");
  std::filesystem::create_directory_symlink(through.outside().path(), through.folder() / "dir");
  EXPECT_THAT(through.Error(), HasSubstr("is a link out of the folder"));
}

TEST(SafetensorsFolder, LinksIntoTheBlobsOfTheHubCacheAreFollowed) {
  const TempFolder cache;
  std::filesystem::create_directories(cache / "blobs");
  std::filesystem::create_directories(cache / "snapshots/abc");
  PutFile(cache / "blobs/123",
          FileOf(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1));
  PutFile(cache / "snapshots/abc/model.safetensors.index.json",
          R"({"weight_map":{"t":"m.safetensors"}})");
  std::filesystem::create_symlink("../../blobs/123", cache / "snapshots/abc/m.safetensors");
  const auto file = SafetensorsFile::Open(cache / "snapshots/abc");
  EXPECT_TRUE(file.ok()) << file.status().message();
}

TEST(SafetensorsFolder, MissingShardIsNamed) {
  EXPECT_THAT(IndexedFolder("b.safetensors").Error(),
              HasSubstr("\"b.safetensors\" that it names is missing"));
}

TEST(SafetensorsFolder, TensorThatItsShardLacksIsAnError) {
  const TempFolder folder;
  PutFile(folder / "a.safetensors",
          FileOf(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1));
  PutFile(folder / "model.safetensors.index.json",
          R"({"weight_map":{"t":"a.safetensors","u":"a.safetensors"}})");
  EXPECT_THAT(std::string(SafetensorsFile::Open(folder.path()).status().message()),
              HasSubstr("tensor \"u\" is not in a.safetensors"));
}

TEST(SafetensorsFolder, TensorInTwoShardsIsAnError) {
  const TempFolder folder;
  const std::string shard = FileOf(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1);
  const std::string other = FileOf(
      R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"u":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
      2);
  PutFile(folder / "a.safetensors", shard);
  PutFile(folder / "b.safetensors", other);
  PutFile(folder / "model.safetensors.index.json",
          R"({"weight_map":{"t":"a.safetensors","u":"b.safetensors"}})");
  EXPECT_THAT(std::string(SafetensorsFile::Open(folder.path()).status().message()),
              HasSubstr("\"t\" is in two files"));
}

TEST(SafetensorsFolder, MalformedIndexIsAnError) {
  for (const std::string_view text :
       {"", "[]", "{}", R"({"weight_map":[]})", R"({"weight_map":{"t":1}})"}) {
    const TempFolder folder;
    PutFile(folder / "model.safetensors.index.json", text);
    const auto file = SafetensorsFile::Open(folder.path());
    EXPECT_FALSE(file.ok()) << text;
    EXPECT_THAT(std::string(file.status().message()), HasSubstr("index.json"));
  }
}

// --- Real files.

TEST(SafetensorsFiles, RealFilesGetTheRightVerdict) {
  RML_DATA_FOLDER_OR_SKIP(data);
  auto vad = SafetensorsFile::Open(data + "/safetensors/silero_vad_16k.safetensors");
  ASSERT_TRUE(vad.ok()) << vad.status().message();
  EXPECT_EQ(vad->tensors().size(), 15u);
  for (const SafetensorsTensor& tensor : vad->tensors()) EXPECT_EQ(tensor.dtype, core::DType::kF32);
  EXPECT_NE(vad->Find("stft_conv.weight"), nullptr);
  auto tiny = SafetensorsFile::Open(data + "/safetensors/tiny-checkpoint-studio.safetensors");
  ASSERT_TRUE(tiny.ok()) << tiny.status().message();
  EXPECT_FALSE(tiny->metadata().empty());
  for (const char* name :
       {"candle-csm-voices", "candle-encodec-jfk-codes", "diff-new-checkpoint-studio"}) {
    const auto file = SafetensorsFile::Open(data + "/safetensors/" + name + ".safetensors");
    EXPECT_TRUE(file.ok()) << file.status().message();
  }
  // Five bytes too long; the reference implementation refuses it too.
  const auto trailing =
      SafetensorsFile::Open(data + "/safetensors/tiny-weight-inspect.safetensors");
  EXPECT_THAT(std::string(trailing.status().message()), HasSubstr("5 bytes after the last tensor"));
  const auto cut =
      SafetensorsFile::Open(data + "/safetensors/header-only-inkling-shard-09.safetensors");
  EXPECT_THAT(std::string(cut.status().message()), HasSubstr("truncated"));
}

}  // namespace
}  // namespace rml::io
