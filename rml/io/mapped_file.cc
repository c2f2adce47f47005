#include "rml/io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "rml/core/checked_math.h"

namespace rml::io {
namespace {

using core::Expected;
using core::Status;
using core::StrCat;

// An open descriptor of a regular file, and its size.
struct OpenFile {
  int descriptor = -1;
  uint64_t size = 0;
};

Expected<OpenFile> OpenRegular(const std::string& path) {
  OpenFile file;
  // O_NONBLOCK: opening a FIFO that nobody writes to must fail below, not hang.
  file.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor < 0) {
    if (errno == ENOENT) return core::NotFound(path, ": there is no such file");
    return core::IoError(StrCat("cannot open ", path), errno);
  }
  struct stat info = {};
  if (::fstat(file.descriptor, &info) != 0) {
    Status status = core::IoError(StrCat("cannot inspect ", path), errno);
    ::close(file.descriptor);
    return status;
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(file.descriptor);
    return core::InvalidArgument(path,
                                 S_ISDIR(info.st_mode) ? " is a directory" : " is no regular file",
                                 "; give the path of a file");
  }
  file.size = static_cast<uint64_t>(info.st_size);
  return file;
}

template <typename Container>
Expected<Container> ReadWhole(std::string_view path_view, uint64_t max_bytes) {
  const std::string path(path_view);
  RML_ASSIGN(OpenFile file, OpenRegular(path));
  if (file.size > max_bytes) {
    ::close(file.descriptor);
    return core::ResourceExhausted(path, " has ", file.size, " bytes, more than the limit of ",
                                   max_bytes);
  }
  Container result;
  result.resize(file.size);
  size_t done = 0;
  while (done < result.size()) {
    const ssize_t got = ::read(file.descriptor, result.data() + done, result.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      Status status = core::IoError(StrCat("cannot read ", path, " at byte ", done), errno);
      ::close(file.descriptor);
      return status;
    }
    if (got == 0) {
      ::close(file.descriptor);
      return core::DataLoss(path, " shrank while being read: it ended at byte ", done, " of ",
                            file.size);
    }
    done += static_cast<size_t>(got);
  }
  ::close(file.descriptor);
  return result;
}

size_t PageSize() {
  static const size_t size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

int AdviceFlag(Access access) {
  switch (access) {
    case Access::kNormal:
      return MADV_NORMAL;
    case Access::kSequential:
      return MADV_SEQUENTIAL;
    case Access::kRandom:
      return MADV_RANDOM;
    case Access::kWillNeed:
      return MADV_WILLNEED;
    case Access::kHugePages:
      return MADV_HUGEPAGE;
  }
  return MADV_NORMAL;
}

}  // namespace

Expected<MappedFile> MappedFile::Open(std::string_view path) {
  MappedFile result;
  result.path_ = std::string(path);
  RML_ASSIGN(const OpenFile file, OpenRegular(result.path_));
  result.descriptor_ = file.descriptor;
  if (file.size > static_cast<uint64_t>(PTRDIFF_MAX)) {
    return core::Unsupported(result.path_, " has ", file.size, " bytes, more than can be mapped");
  }
  result.size_ = static_cast<size_t>(file.size);
  if (result.size_ == 0) return result;  // mmap refuses a length of zero
  void* data = ::mmap(nullptr, result.size_, PROT_READ, MAP_SHARED, file.descriptor, 0);
  if (data == MAP_FAILED) {
    const int error = errno;
    const size_t size = std::exchange(result.size_, 0);
    return core::IoError(StrCat("cannot map the ", size, " bytes of ", result.path_), error);
  }
  result.data_ = static_cast<const std::byte*>(data);
  return result;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    Close();
    path_ = std::move(other.path_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

MappedFile::~MappedFile() { Close(); }

void MappedFile::Close() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  if (descriptor_ >= 0) ::close(descriptor_);
  data_ = nullptr;
  size_ = 0;
  descriptor_ = -1;
}

void MappedFile::Advise(Access access) const { Advise(access, bytes()); }

void MappedFile::Advise(Access access, std::span<const std::byte> range) const {
  if (range.empty() || data_ == nullptr) return;
  // madvise wants a page boundary; widening advice to whole pages harms nothing.
  const uintptr_t first = reinterpret_cast<uintptr_t>(range.data()) / PageSize() * PageSize();
  const uintptr_t last = reinterpret_cast<uintptr_t>(range.data()) + range.size();
  // A kernel without huge pages for files answers EINVAL: advice that is not taken is no failure.
  (void)::madvise(reinterpret_cast<void*>(first), last - first, AdviceFlag(access));
}

void MappedFile::Release(std::span<const std::byte> range) const {
  if (range.empty() || data_ == nullptr) return;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(range.data());
  uintptr_t end = begin + range.size();
  // The file's last page belongs to the file alone, so it may go when the range reaches the end.
  if (range.data() + range.size() == data_ + size_) end = core::RoundUp<uintptr_t>(end, PageSize());
  const uintptr_t first = core::RoundUp<uintptr_t>(begin, PageSize());
  const uintptr_t last = end / PageSize() * PageSize();
  if (first >= last) return;
  (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

Status MappedFile::StillSameSize() const {
  if (descriptor_ < 0) return core::OkStatus();
  struct stat info = {};
  if (::fstat(descriptor_, &info) != 0)
    return core::IoError(StrCat("cannot inspect ", path_), errno);
  if (static_cast<uint64_t>(info.st_size) != size_) {
    return core::DataLoss(path_, " changed from ", size_, " to ", info.st_size,
                          " bytes while in use; open it again");
  }
  return core::OkStatus();
}

Expected<std::vector<std::byte>> ReadFile(std::string_view path, uint64_t max_bytes) {
  return ReadWhole<std::vector<std::byte>>(path, max_bytes);
}

Expected<std::string> ReadTextFile(std::string_view path, uint64_t max_bytes) {
  return ReadWhole<std::string>(path, max_bytes);
}

}  // namespace rml::io
