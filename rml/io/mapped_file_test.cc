#include "rml/io/mapped_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/io/testing/test_files.h"

namespace rml::io {
namespace {

using testing::GetFile;
using ::testing::HasSubstr;
using testing::PutFile;
using testing::TempFolder;

std::string TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(MappedFile, ShowsTheBytesOfTheFile) {
  const TempFolder folder;
  PutFile(folder / "f", "hello");
  auto file = MappedFile::Open(folder / "f");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(TextOf(file->bytes()), "hello");
  EXPECT_EQ(file->path(), folder / "f");
}

TEST(MappedFile, MissingFileIsNotFoundAndNamed) {
  const TempFolder folder;
  const auto file = MappedFile::Open(folder / "absent.gguf");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), core::StatusCode::kNotFound);
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("absent.gguf"));
}

TEST(MappedFile, DirectoryIsAnErrorThatSaysSo) {
  const TempFolder folder;
  const auto file = MappedFile::Open(folder.path());
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("is a directory"));
}

TEST(MappedFile, FifoWithoutAWriterIsAnErrorAndDoesNotHang) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  const auto file = MappedFile::Open(folder / "fifo");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("no regular file"));
}

TEST(MappedFile, FileWithoutPermissionIsAnIoError) {
  const TempFolder folder;
  PutFile(folder / "f", "x");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod((folder / "f").c_str(), 0), 0);
  // Root may read every file, so it becomes somebody else for a moment.
  constexpr uid_t kNobody = 65534;
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  const auto file = MappedFile::Open(folder / "f");
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), core::StatusCode::kIo);
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("Permission denied"));
}

TEST(MappedFile, EmptyFileMapsToNoBytes) {
  const TempFolder folder;
  PutFile(folder / "f", "");
  auto file = MappedFile::Open(folder / "f");
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->bytes().empty());
  file->Advise(Access::kWillNeed);
  file->Release(file->bytes());
  EXPECT_TRUE(file->StillSameSize().ok());
}

TEST(MappedFile, MovingKeepsTheAddress) {
  const TempFolder folder;
  PutFile(folder / "f", "hello");
  auto file = MappedFile::Open(folder / "f");
  ASSERT_TRUE(file.ok());
  const std::byte* const address = file->bytes().data();
  MappedFile moved = *std::move(file);
  MappedFile assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.bytes().data(), address);
  EXPECT_EQ(TextOf(assigned.bytes()), "hello");
}

TEST(MappedFile, ReleasedAndAdvisedBytesReadTheSame) {
  const TempFolder folder;
  std::string content(100'000, '\0');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7);
  PutFile(folder / "f", content);
  auto file = MappedFile::Open(folder / "f");
  ASSERT_TRUE(file.ok());
  for (const Access access : {Access::kSequential, Access::kRandom, Access::kWillNeed,
                              Access::kHugePages, Access::kNormal}) {
    file->Advise(access);
    file->Advise(access, file->bytes().subspan(5000, 20'000));
  }
  EXPECT_EQ(TextOf(file->bytes()), content);
  file->Release(file->bytes().subspan(1, 50'000));
  file->Release(file->bytes());
  EXPECT_EQ(TextOf(file->bytes()), content);
}

TEST(MappedFile, ChangedSizeIsNoticed) {
  const TempFolder folder;
  PutFile(folder / "f", "hello");
  auto file = MappedFile::Open(folder / "f");
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->StillSameSize().ok());
  ASSERT_EQ(::truncate((folder / "f").c_str(), 2), 0);
  const auto status = file->StillSameSize();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("from 5 to 2 bytes"));
}

TEST(ReadFile, ReturnsAllBytesAndHonoursTheLimit) {
  const TempFolder folder;
  PutFile(folder / "f", "hello");
  auto text = ReadTextFile(folder / "f");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "hello");
  auto bytes = ReadFile(folder / "f", 5);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->size(), 5u);
  const auto limited = ReadFile(folder / "f", 4);
  ASSERT_FALSE(limited.ok());
  EXPECT_EQ(limited.status().code(), core::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace rml::io
