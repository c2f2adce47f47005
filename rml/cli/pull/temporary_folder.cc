#include "rml/cli/pull/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace rml::cli {

TemporaryFolder::TemporaryFolder(std::string path) : path_(std::move(path)) {}
TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // nobody to tell
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

core::Expected<TemporaryFolder> TemporaryFolder::Make(const std::string& parent) {
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (error) return core::IoError(core::StrCat("cannot make the folder ", parent), error.value());
  std::string path = parent + "/.partial-XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    return core::IoError(core::StrCat("cannot make a folder in ", parent), errno);
  return TemporaryFolder(std::move(path));
}

}  // namespace rml::cli
