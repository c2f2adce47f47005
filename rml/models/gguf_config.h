// ConfigSource over the metadata of a GGUF file: keys are prefixed with its general.architecture.
#pragma once

#include <string>

#include "rml/io/gguf.h"
#include "rml/models/config_source.h"

namespace rml::models {

class GgufConfig final : public ConfigSource {
 public:
  // `file` must outlive the result. Fails without a general.architecture.
  static core::Expected<GgufConfig> Make(const io::GgufFile& file);

  const std::string& architecture() const { return architecture_; }

  ConfigFormat format() const override { return ConfigFormat::kGguf; }
  std::string_view file_name() const override { return file_->name(); }
  core::Expected<std::optional<int64_t>> FindInt(ConfigKey key) const override;
  core::Expected<std::optional<double>> FindFloat(ConfigKey key) const override;
  core::Expected<std::optional<bool>> FindBool(ConfigKey key) const override;
  core::Expected<std::optional<std::string>> FindString(ConfigKey key) const override;
  core::Expected<std::optional<std::vector<std::string>>> FindStrings(ConfigKey key) const override;
  core::Expected<std::optional<std::vector<int64_t>>> FindInts(ConfigKey key) const override;
  std::optional<core::Shape> TensorShape(ConfigKey tensor) const override;

 private:
  GgufConfig(const io::GgufFile& file, std::string architecture)
      : file_(&file), architecture_(std::move(architecture)) {}

  template <typename T>
  core::Expected<std::optional<T>> Find(ConfigKey key) const;

  const io::GgufFile* file_;
  std::string architecture_;
};

}  // namespace rml::models
