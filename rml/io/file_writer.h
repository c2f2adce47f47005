// FileWriter: writes a file that appears whole or not at all. Bytes go to a temporary file beside
// the target; Commit flushes them to the disk and renames it into place. A writer that fails, or is
// destroyed before Commit, removes the temporary file and leaves the target as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"

namespace rml::io {

class FileWriter {
 public:
  static core::Expected<FileWriter> Create(std::string_view path);

  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&& other) noexcept;
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();

  const std::string& path() const { return path_; }
  uint64_t bytes_written() const { return written_; }  // accepted by Write

  // After a failure every further call fails in the same way. A full disk is ResourceExhausted, and
  // its message says how many bytes had been written.
  core::Status Write(std::span<const std::byte> bytes);
  core::Status Write(std::string_view text);
  core::Status WriteZeros(uint64_t count);

  // Makes what was written durable, under its temporary name; nothing may be written afterwards.
  // For several files that must appear together: finish all, then commit all.
  core::Status Finish();
  // Finishes the file and makes it visible.
  core::Status Commit();

 private:
  FileWriter() = default;
  core::Status Flush();
  core::Status WriteOut(std::span<const std::byte> bytes);
  core::Status FailedIo(std::string_view what, int error_number);
  void Abandon();

  std::string path_;
  std::string temporary_;  // empty once it has been renamed or removed
  int descriptor_ = -1;
  std::vector<std::byte> buffer_;
  uint64_t written_ = 0;
  uint64_t flushed_ = 0;
  core::Status failure_;
};

// Creates or replaces a file in one step.
core::Status WriteFile(std::string_view path, std::span<const std::byte> bytes);
core::Status WriteFile(std::string_view path, std::string_view text);

}  // namespace rml::io
