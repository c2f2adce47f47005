// MappedFile: a whole file mapped read-only into memory, so that weights are paged in by the
// kernel, shared between processes, and never copied. ReadFile is the copying alternative for small
// files and for storage whose files may shrink.
//
// A file that another process truncates while it is mapped makes reads past its new end raise
// SIGBUS; no check can close that race. StillSameSize() tells a long-lived reader that the file
// changed underneath it; a caller that cannot trust the file's owner uses ReadFile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"

namespace rml::io {

// What the kernel is told about coming reads. Advice never changes what is read, only how fast.
enum class Access : uint8_t {
  kNormal,
  kSequential,  // read ahead far, drop behind
  kRandom,      // do not read ahead
  kWillNeed,    // start reading now
  kHugePages,   // 2 MiB pages where the file system can
};

class MappedFile {
 public:
  // Maps `path`. Fails on what is missing, unreadable or no regular file. An empty file maps to an
  // empty span.
  static core::Expected<MappedFile> Open(std::string_view path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  const std::string& path() const { return path_; }
  size_t size() const { return size_; }
  // Valid, at the same address, until this object (or the one it was moved to) is destroyed.
  std::span<const std::byte> bytes() const { return {data_, size_}; }

  void Advise(Access access) const;
  void Advise(Access access, std::span<const std::byte> range) const;

  // Drops the pages that lie wholly inside `range` from this process; reading them again is allowed
  // and pages them in from the file. For weights that have been repacked elsewhere.
  void Release(std::span<const std::byte> range) const;

  // Fails when the open file no longer has the size that was mapped.
  core::Status StillSameSize() const;

 private:
  void Close();

  std::string path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  int descriptor_ = -1;
};

// Reads a whole regular file into memory; a file above `max_bytes` is refused before anything is
// allocated.
core::Expected<std::vector<std::byte>> ReadFile(std::string_view path,
                                                uint64_t max_bytes = uint64_t{1} << 32);
core::Expected<std::string> ReadTextFile(std::string_view path,
                                         uint64_t max_bytes = uint64_t{1} << 30);

}  // namespace rml::io
