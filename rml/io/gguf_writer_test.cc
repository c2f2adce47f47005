#include "rml/io/gguf_writer.h"

#include <cstring>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/io/testing/test_files.h"

namespace rml::io {
namespace {

using ::testing::ElementsAre;
using testing::GetFile;
using ::testing::HasSubstr;
using testing::TempFolder;

std::span<const std::byte> BytesOf(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

TEST(GgufWriter, WhatIsWrittenIsRead) {
  const TempFolder folder;
  auto writer = GgufWriter::Create();
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Set("general.architecture", "llama").ok());
  ASSERT_TRUE(writer->Set("u8", uint8_t{3}).ok());
  ASSERT_TRUE(writer->Set("i64", int64_t{-5}).ok());
  ASSERT_TRUE(writer->Set("f32", 0.1f).ok());
  ASSERT_TRUE(writer->Set("f64", 0.1).ok());
  ASSERT_TRUE(writer->Set("yes", true).ok());
  ASSERT_TRUE(writer->Set("ints", std::vector<int32_t>{1, -2}).ok());
  ASSERT_TRUE(writer->Set("none", std::vector<float>{}).ok());
  ASSERT_TRUE(writer->Set("words", std::vector<std::string>{"a", "", "\xe2\x96\x81z"}).ok());
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<float> b = {7};
  ASSERT_TRUE(writer->AddTensor("a", core::DType::kF32, {2, 3}, BytesOf(a)).ok());
  ASSERT_TRUE(writer->AddTensor("b", core::DType::kF32, {}, BytesOf(b)).ok());
  ASSERT_TRUE(
      writer->AddTensor("empty", core::DType::kF16, {0, 32}, std::span<const std::byte>()).ok());
  const auto status = writer->Write(folder / "m.gguf");
  ASSERT_TRUE(status.ok()) << status.message();

  auto gguf = GgufFile::Open(folder / "m.gguf");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ(gguf->version(), 3u);
  EXPECT_EQ(*gguf->Get<std::string>("general.architecture"), "llama");
  EXPECT_EQ(gguf->Find("u8")->type(), GgufType::kU8);
  EXPECT_EQ(*gguf->Get<int>("i64"), -5);
  EXPECT_EQ(*gguf->Get<float>("f32"), 0.1f);
  EXPECT_EQ(*gguf->Get<double>("f64"), 0.1);
  EXPECT_TRUE(*gguf->Get<bool>("yes"));
  EXPECT_THAT(*gguf->Get<std::vector<int>>("ints"), ElementsAre(1, -2));
  EXPECT_THAT(*gguf->Get<std::vector<float>>("none"), ElementsAre());
  EXPECT_THAT(*gguf->Get<std::vector<std::string>>("words"), ElementsAre("a", "", "\xe2\x96\x81z"));
  EXPECT_EQ(gguf->FindTensor("a")->shape, (core::Shape{2, 3}));
  EXPECT_EQ(std::memcmp(gguf->FindTensor("a")->data.data(), a.data(), 24), 0);
  EXPECT_EQ(gguf->FindTensor("a")->file_offset % 32, 0u);
  EXPECT_EQ(gguf->FindTensor("b")->shape.rank(), 0);
  EXPECT_EQ(gguf->FindTensor("empty")->data.size(), 0u);
}

TEST(GgufWriter, CopyOfAFileIsEqualByteForByte) {
  auto original = GgufFile::Open(RML_TESTDATA "/gguf/python-writer.gguf");
  ASSERT_TRUE(original.ok()) << original.status().message();
  auto writer = GgufWriter::Create();
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->CopyEntries(*original).ok());
  for (const GgufTensorInfo& tensor : original->tensors()) {
    ASSERT_TRUE(writer
                    ->AddTensor(tensor.name, *tensor.type, tensor.shape,
                                [&](ByteSink sink) { return sink(tensor.data); })
                    .ok());
  }
  auto bytes = writer->ToBytes();
  ASSERT_TRUE(bytes.ok());
  const std::string file = GetFile(RML_TESTDATA "/gguf/python-writer.gguf");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()), file);
}

TEST(GgufWriter, CopyOfAModelIsEqualInContent) {
  auto original = GgufFile::Open(RML_TESTDATA "/stories260k.gguf");
  ASSERT_TRUE(original.ok());
  auto writer = GgufWriter::Create(64);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->CopyEntries(*original).ok());
  for (const GgufTensorInfo& tensor : original->tensors()) {
    ASSERT_TRUE(writer->AddTensor(tensor.name, *tensor.dtype, tensor.shape, tensor.data).ok());
  }
  const TempFolder folder;
  ASSERT_TRUE(writer->Write(folder / "copy.gguf").ok());
  auto copy = GgufFile::Open(folder / "copy.gguf");
  ASSERT_TRUE(copy.ok()) << copy.status().message();
  EXPECT_EQ(copy->alignment(), 64u);
  for (const GgufEntry& entry : original->entries()) {
    if (entry.key == "general.alignment") continue;
    const GgufValue* value = copy->Find(entry.key);
    ASSERT_NE(value, nullptr) << entry.key;
    EXPECT_EQ(value->ToString(1'000'000), entry.value.ToString(1'000'000));
    EXPECT_EQ(value->type(), entry.value.type());
  }
  ASSERT_EQ(copy->tensors().size(), original->tensors().size());
  for (const GgufTensorInfo& tensor : original->tensors()) {
    const GgufTensorInfo* other = copy->FindTensor(tensor.name);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(other->shape, tensor.shape);
    EXPECT_EQ(other->file_offset % 64, 0u);
    ASSERT_EQ(other->data.size(), tensor.data.size());
    EXPECT_EQ(std::memcmp(other->data.data(), tensor.data.data(), tensor.data.size()), 0);
  }
}

TEST(GgufWriter, VersionTwoIsWrittenToo) {
  auto writer = GgufWriter::Create(32, 2);
  ASSERT_TRUE(writer.ok());
  const std::vector<float> values = {1, 2};
  ASSERT_TRUE(writer->Set("k", 7).ok());
  ASSERT_TRUE(writer->AddTensor("t", core::DType::kF32, {2}, BytesOf(values)).ok());
  auto bytes = writer->ToBytes();
  ASSERT_TRUE(bytes.ok());
  auto gguf = GgufFile::Parse(*bytes, "m");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ(gguf->version(), 2u);
  EXPECT_EQ(*gguf->Get<int>("k"), 7);
  EXPECT_EQ(std::memcmp(gguf->FindTensor("t")->data.data(), values.data(), 8), 0);
  EXPECT_EQ(GgufWriter::Create(32, 1).status().code(), core::StatusCode::kUnsupported);
  EXPECT_EQ(GgufWriter::Create(32, 4).status().code(), core::StatusCode::kUnsupported);
}

// Five tensors of 1, 2, 3, … floats, of which `broken`, if any, has no bytes.
GgufWriter FiveTensors(const std::vector<float>& values, int broken = -1) {
  auto writer = GgufWriter::Create(64);
  EXPECT_TRUE(writer->Set("general.architecture", "llama").ok());
  for (int i = 0; i < 5; ++i) {
    const auto bytes = BytesOf(values).first(sizeof(float) * static_cast<size_t>(i + 1));
    EXPECT_TRUE(
        writer
            ->AddTensor(std::string(1, static_cast<char>('a' + i)), core::DType::kF32, {i + 1},
                        [=](ByteSink sink) { return i == broken ? core::OkStatus() : sink(bytes); })
            .ok());
  }
  return *std::move(writer);
}

TEST(GgufWriter, PartsAreReadAsOneModel) {
  const std::vector<float> values = {1, 2, 3, 4, 5};
  const TempFolder folder;
  // 4 + 8, 12, 16, 20 bytes: the last is larger than a part may be.
  const auto status = FiveTensors(values).WriteParts(folder / "m", 16);
  ASSERT_TRUE(status.ok()) << status.message();
  auto gguf = GgufFile::Open(folder / "m-00001-of-00004.gguf");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ(gguf->part_count(), 4);
  EXPECT_EQ(gguf->alignment(), 64u);
  EXPECT_EQ(*gguf->Get<std::string>("general.architecture"), "llama");
  EXPECT_EQ(*gguf->Get<int>("split.count"), 4);
  EXPECT_EQ(*gguf->Get<int>("split.tensors.count"), 5);
  const std::vector<int> parts = {0, 0, 1, 2, 3};
  for (int i = 0; i < 5; ++i) {
    const GgufTensorInfo* tensor = gguf->FindTensor(std::string(1, static_cast<char>('a' + i)));
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->part, parts[static_cast<size_t>(i)]);
    ASSERT_EQ(tensor->data.size(), 4u * static_cast<size_t>(i + 1));
    EXPECT_EQ(std::memcmp(tensor->data.data(), values.data(), tensor->data.size()), 0);
  }
}

TEST(GgufWriter, OnePartIsEnoughForASmallModel) {
  const std::vector<float> values = {1, 2, 3, 4, 5};
  const TempFolder folder;
  ASSERT_TRUE(FiveTensors(values).WriteParts(folder / "m", 1 << 20).ok());
  auto gguf = GgufFile::Open(folder / "m-00001-of-00001.gguf");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ(gguf->tensors().size(), 5u);
}

TEST(GgufWriter, FailureInALaterPartLeavesNoPart) {
  const std::vector<float> values = {1, 2, 3, 4, 5};
  const TempFolder folder;
  const auto status = FiveTensors(values, 3).WriteParts(folder / "m", 16);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("m-00003-of-00004.gguf"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(GgufWriter, RefusesWhatNoReaderWouldTake) {
  EXPECT_FALSE(GgufWriter::Create(24).ok());
  EXPECT_FALSE(GgufWriter::Create(4).ok());
  auto writer = GgufWriter::Create();
  ASSERT_TRUE(writer.ok());
  EXPECT_FALSE(writer->Set("", 1).ok());
  EXPECT_FALSE(writer->Set("\xff", 1).ok());
  EXPECT_FALSE(writer->Set(std::string(65'536, 'k'), 1).ok());
  EXPECT_TRUE(writer->Set("k", 1).ok());
  EXPECT_FALSE(writer->Set("k", 2).ok());
  const std::vector<float> four = {1, 2, 3, 4};
  EXPECT_TRUE(writer->AddTensor("t", core::DType::kF32, {4}, BytesOf(four)).ok());
  EXPECT_FALSE(writer->AddTensor("t", core::DType::kF32, {4}, BytesOf(four)).ok());
  EXPECT_FALSE(writer->AddTensor("", core::DType::kF32, {4}, BytesOf(four)).ok());
  EXPECT_FALSE(writer->AddTensor(std::string(64, 't'), core::DType::kF32, {4}, BytesOf(four)).ok());
  EXPECT_FALSE(writer->AddTensor("size", core::DType::kF32, {5}, BytesOf(four)).ok());
  EXPECT_FALSE(writer->AddTensor("rank", core::DType::kF32, {1, 1, 1, 2, 2}, BytesOf(four)).ok());
  EXPECT_FALSE(writer->AddTensor("row", core::DType::kQ4_0, {16}, BytesOf(four)).ok());
  EXPECT_FALSE(writer->AddTensor("type", core::DType::kU8, {16}, BytesOf(four)).ok());
  auto bytes = writer->ToBytes();
  ASSERT_TRUE(bytes.ok());
  auto gguf = GgufFile::Parse(*bytes, "m");
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ(gguf->tensors().size(), 1u);
  EXPECT_EQ(gguf->entries().size(), 1u);
}

TEST(GgufWriter, SourceOfTheWrongLengthLeavesNoFile) {
  const std::vector<float> values(8);
  for (const size_t given : {3u, 5u}) {
    const TempFolder folder;
    auto writer = GgufWriter::Create();
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(
        writer
            ->AddTensor("t", core::DType::kF32, {4},
                        [&](ByteSink sink) { return sink(BytesOf(values).first(4 * given)); })
            .ok());
    const auto status = writer->Write(folder / "m.gguf");
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), HasSubstr("tensor \"t\" takes 16 bytes"));
    EXPECT_EQ(folder.entry_count(), 0u);
  }
}

TEST(GgufWriter, SourceMayGiveItsBytesInPieces) {
  auto writer = GgufWriter::Create();
  ASSERT_TRUE(writer.ok());
  const std::vector<float> values = {1, 2, 3, 4};
  ASSERT_TRUE(writer
                  ->AddTensor("t", core::DType::kF32, {4},
                              [&](ByteSink sink) {
                                RML_TRY(sink(BytesOf(values).first(3)));
                                return sink(BytesOf(values).subspan(3));
                              })
                  .ok());
  auto bytes = writer->ToBytes();
  ASSERT_TRUE(bytes.ok());
  auto gguf = GgufFile::Parse(*bytes, "m");
  ASSERT_TRUE(gguf.ok());
  EXPECT_EQ(std::memcmp(gguf->tensors()[0].data.data(), values.data(), 16), 0);
}

TEST(GgufTypes, SizesAgreeWithOurDTypes) {
  for (int i = 0; i < core::kDTypeCount; ++i) {
    const auto dtype = static_cast<core::DType>(i);
    const GgmlType* type = FindGgmlType(dtype);
    if (type == nullptr) continue;
    EXPECT_EQ(type->block_elements, core::Info(dtype).block_elements) << core::Name(dtype);
    EXPECT_EQ(type->block_bytes, core::Info(dtype).block_bytes) << core::Name(dtype);
    EXPECT_EQ(type->name, core::Name(dtype));
    EXPECT_EQ(FindGgmlType(type->id), type);
  }
  EXPECT_NE(FindGgmlType(core::DType::kQ6_K), nullptr);
  EXPECT_EQ(FindGgmlType(core::DType::kBool), nullptr);
}

}  // namespace
}  // namespace rml::io
