// What the tests of this folder share: temporary folders, and the places of data files.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rml::io::testing {

// A new folder that disappears with its contents.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rml_io_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  size_t entry_count() const {
    const std::filesystem::directory_iterator entries(path_);
    return static_cast<size_t>(std::distance(begin(entries), end(entries)));
  }

 private:
  std::string path_;
};

inline void PutFile(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string GetFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The folder of real files that may not be copied here; nothing when RML_DATA_DIR is not set.
inline std::optional<std::string> DataFolder() {
  const char* const folder = std::getenv("RML_DATA_DIR");
  if (folder == nullptr) return std::nullopt;
  return folder;
}

inline std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  return paths;
}

}  // namespace rml::io::testing

#define RML_DATA_FOLDER_OR_SKIP(name)                                                        \
  const auto name##_or = ::rml::io::testing::DataFolder();                                   \
  if (!name##_or.has_value()) GTEST_SKIP() << "set RML_DATA_DIR to the folder of real data"; \
  const std::string& name = *name##_or
