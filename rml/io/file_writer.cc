#include "rml/io/file_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace rml::io {
namespace {

using core::Expected;
using core::OkStatus;
using core::Status;
using core::StrCat;

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr int kMaxAttempts = 100;

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Makes a rename durable. Some file systems refuse to sync a folder; the file itself is safe then.
Status SyncFolder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return OkStatus();
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (error != 0 && error != EINVAL && error != ENOTSUP) {
    return core::IoError(StrCat("cannot sync the folder ", folder), error);
  }
  return OkStatus();
}

}  // namespace

Expected<FileWriter> FileWriter::Create(std::string_view path) {
  FileWriter writer;
  writer.path_ = std::string(path);
  struct stat info = {};
  const bool exists = ::stat(writer.path_.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    return core::InvalidArgument(path,
                                 S_ISDIR(info.st_mode) ? " is a directory" : " is no regular file",
                                 "; give the path of a file");
  }
  static std::atomic<uint32_t> counter = 0;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    std::string temporary = StrCat(path, ".tmp-", ::getpid(), "-", counter.fetch_add(1));
    // O_EXCL neither follows a link nor takes over a file that somebody else is writing.
    writer.descriptor_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (writer.descriptor_ >= 0) {
      writer.temporary_ = std::move(temporary);
      break;
    }
    if (errno != EEXIST) return core::IoError(StrCat("cannot create ", temporary), errno);
  }
  if (writer.descriptor_ < 0) {
    return core::IoError(StrCat("cannot find a free temporary name beside ", path), EEXIST);
  }
  // A file that is replaced keeps its permissions.
  if (exists) (void)::fchmod(writer.descriptor_, info.st_mode & 07777);
  writer.buffer_.reserve(kBufferBytes);
  return writer;
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)),
      written_(other.written_),
      flushed_(other.flushed_),
      failure_(std::move(other.failure_)) {}

FileWriter& FileWriter::operator=(FileWriter&& other) noexcept {
  if (this != &other) {
    Abandon();
    path_ = std::move(other.path_);
    temporary_ = std::exchange(other.temporary_, {});
    descriptor_ = std::exchange(other.descriptor_, -1);
    buffer_ = std::move(other.buffer_);
    written_ = other.written_;
    flushed_ = other.flushed_;
    failure_ = std::move(other.failure_);
  }
  return *this;
}

FileWriter::~FileWriter() { Abandon(); }

void FileWriter::Abandon() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(std::exchange(temporary_, {}).c_str());
}

Status FileWriter::FailedIo(std::string_view what, int error_number) {
  if (error_number == ENOSPC || error_number == EDQUOT) {
    failure_ =
        core::ResourceExhausted(path_, ": the disk is full after ", flushed_, " of at least ",
                                written_, " bytes; free some space and try again");
  } else {
    failure_ =
        core::IoError(StrCat(path_, ": ", what, " after ", flushed_, " bytes"), error_number);
  }
  Abandon();
  return failure_;
}

Status FileWriter::WriteOut(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    // Linux writes at most 2 GiB at once, and reports less than asked when a disk fills up.
    const size_t chunk = std::min<size_t>(bytes.size(), size_t{1} << 30);
    const ssize_t done = ::write(descriptor_, bytes.data(), chunk);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return FailedIo("cannot write", errno);
    flushed_ += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return OkStatus();
}

Status FileWriter::Flush() {
  RML_TRY(WriteOut(buffer_));
  buffer_.clear();
  return OkStatus();
}

Status FileWriter::Write(std::span<const std::byte> bytes) {
  if (!failure_.ok()) return failure_;
  if (descriptor_ < 0) return core::FailedPrecondition(path_, " has been finished already");
  written_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytes) {
    RML_TRY(Flush());
    if (bytes.size() >= kBufferBytes) return WriteOut(bytes);
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return OkStatus();
}

Status FileWriter::Write(std::string_view text) {
  return Write(std::as_bytes(std::span(text.data(), text.size())));
}

Status FileWriter::WriteZeros(uint64_t count) {
  static constexpr std::array<std::byte, 4096> kZeros = {};
  while (count > 0) {
    const uint64_t chunk = std::min<uint64_t>(count, kZeros.size());
    RML_TRY(Write(std::span(kZeros).first(static_cast<size_t>(chunk))));
    count -= chunk;
  }
  return OkStatus();
}

Status FileWriter::Finish() {
  if (!failure_.ok()) return failure_;
  if (descriptor_ < 0) return core::FailedPrecondition(path_, " has been finished already");
  RML_TRY(Flush());
  if (::fsync(descriptor_) != 0) return FailedIo("cannot sync", errno);
  // Some file systems report a full disk only here.
  if (::close(std::exchange(descriptor_, -1)) != 0) return FailedIo("cannot close", errno);
  buffer_ = {};
  return OkStatus();
}

Status FileWriter::Commit() {
  if (!failure_.ok()) return failure_;
  if (temporary_.empty()) return core::FailedPrecondition(path_, " has been committed already");
  if (descriptor_ >= 0) RML_TRY(Finish());
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return FailedIo("cannot rename", errno);
  temporary_.clear();
  return SyncFolder(FolderOf(path_));
}

Status WriteFile(std::string_view path, std::span<const std::byte> bytes) {
  RML_ASSIGN(FileWriter writer, FileWriter::Create(path));
  RML_TRY(writer.Write(bytes));
  return writer.Commit();
}

Status WriteFile(std::string_view path, std::string_view text) {
  return WriteFile(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace rml::io
