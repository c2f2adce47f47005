// ZipArchive: reads the members of a zip file (a Python wheel is one). Nothing is run or written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rml/core/expected.h"
#include "rml/core/function_ref.h"

namespace rml::cli {

class ZipArchive {
 public:
  static core::Expected<ZipArchive> Open(const std::string& path);
  ZipArchive(ZipArchive&&) noexcept;
  ~ZipArchive();

  std::vector<std::string> MemberNames() const;

  // Unpacks a member piece by piece; its checksum is verified at the end. The sink's failure ends
  // it.
  using Sink = core::FunctionRef<core::Status(std::span<const std::byte> bytes)>;
  core::Status Extract(const std::string& member, Sink sink) const;

 private:
  struct Impl;
  explicit ZipArchive(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace rml::cli
