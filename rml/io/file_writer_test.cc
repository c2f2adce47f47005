#include "rml/io/file_writer.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
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

TEST(FileWriter, FileAppearsOnlyWithCommit) {
  const TempFolder folder;
  auto writer = FileWriter::Create(folder / "f");
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  ASSERT_TRUE(writer->Write("hello ").ok());
  ASSERT_TRUE(writer->Write("world").ok());
  ASSERT_TRUE(writer->WriteZeros(3).ok());
  EXPECT_FALSE(std::filesystem::exists(folder / "f"));
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(GetFile(folder / "f"), std::string("hello world\0\0\0", 14));
  EXPECT_EQ(writer->bytes_written(), 14u);
  EXPECT_EQ(folder.entry_count(), 1u);
}

TEST(FileWriter, DestructionWithoutCommitLeavesTheOldFile) {
  const TempFolder folder;
  PutFile(folder / "f", "old");
  {
    auto writer = FileWriter::Create(folder / "f");
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Write(std::string(3'000'000, 'x')).ok());
    FileWriter moved = *std::move(writer);
    ASSERT_TRUE(moved.Write("y").ok());
  }
  EXPECT_EQ(GetFile(folder / "f"), "old");
  EXPECT_EQ(folder.entry_count(), 1u);
}

TEST(FileWriter, LargeAndSmallWritesKeepTheirOrder) {
  const TempFolder folder;
  auto writer = FileWriter::Create(folder / "f");
  ASSERT_TRUE(writer.ok());
  std::string expected;
  for (const size_t size : {1u, 1'048'575u, 1u, 3'000'000u, 7u, 1'048'576u, 0u, 5u}) {
    const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
    expected += piece;
    ASSERT_TRUE(writer->Write(piece).ok());
  }
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(GetFile(folder / "f"), expected);
}

TEST(FileWriter, ReplacedFileKeepsItsPermissions) {
  const TempFolder folder;
  PutFile(folder / "f", "old");
  ASSERT_EQ(::chmod((folder / "f").c_str(), 0640), 0);
  ASSERT_TRUE(WriteFile(folder / "f", "new").ok());
  struct stat info = {};
  ASSERT_EQ(::stat((folder / "f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  EXPECT_EQ(GetFile(folder / "f"), "new");
}

TEST(FileWriter, MissingFolderAndDirectoryAreErrors) {
  const TempFolder folder;
  EXPECT_FALSE(FileWriter::Create(folder / "absent/f").ok());
  const auto directory = FileWriter::Create(folder.path());
  ASSERT_FALSE(directory.ok());
  EXPECT_THAT(std::string(directory.status().message()), HasSubstr("is a directory"));
}

TEST(FileWriter, NothingCanBeWrittenAfterCommit) {
  const TempFolder folder;
  auto writer = FileWriter::Create(folder / "f");
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(writer->Write("x").code(), core::StatusCode::kFailedPrecondition);
  EXPECT_EQ(writer->Commit().code(), core::StatusCode::kFailedPrecondition);
}

// A limit on the size of files stands for the full disk: the kernel refuses in the same place.
TEST(FileWriter, RefusedWriteNamesPathAndBytesAndLeavesNothing) {
  struct sigaction ignore = {};
  struct sigaction old_action = {};
  ignore.sa_handler = SIG_IGN;
  ASSERT_EQ(::sigaction(SIGXFSZ, &ignore, &old_action), 0);
  rlimit old_limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = old_limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);

  const TempFolder folder;
  auto writer = FileWriter::Create(folder / "f");
  ASSERT_TRUE(writer.ok());
  const auto status = writer->Write(std::string(2 << 20, 'x'));
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder / "f"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("after 1048576 bytes"));
  EXPECT_FALSE(writer->Commit().ok());
  EXPECT_EQ(folder.entry_count(), 0u);

  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  ASSERT_EQ(::sigaction(SIGXFSZ, &old_action, nullptr), 0);
}

// /dev/full answers every write with "no space left"; the temporary file is swapped for it.
TEST(FileWriter, FullDiskSaysSo) {
  const TempFolder folder;
  auto writer = FileWriter::Create(folder / "f");
  ASSERT_TRUE(writer.ok());
  const int full = ::open("/dev/full", O_WRONLY);
  if (full < 0) GTEST_SKIP() << "this system has no /dev/full";
  // The writer's descriptor is the only one open on its temporary file.
  bool swapped = false;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    if (error || !target.string().starts_with(folder / "f.tmp-")) continue;
    ASSERT_GE(::dup2(full, std::stoi(entry.path().filename().string())), 0);
    swapped = true;
  }
  ::close(full);
  ASSERT_TRUE(swapped);
  ASSERT_TRUE(writer->Write("hello").ok());
  const auto status = writer->Commit();
  ASSERT_EQ(status.code(), core::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the disk is full after 0 of at least 5 bytes"));
  EXPECT_EQ(folder.entry_count(), 0u);
}

}  // namespace
}  // namespace rml::io
