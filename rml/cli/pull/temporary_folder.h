// TemporaryFolder: a folder of its own that goes away with all it holds.
#pragma once

#include <string>

#include "rml/core/expected.h"

namespace rml::cli {

class TemporaryFolder {
 public:
  // Makes a new folder inside `parent`, which is made where it is missing.
  static core::Expected<TemporaryFolder> Make(const std::string& parent);
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path);
  std::string path_;
};

}  // namespace rml::cli
