// ConfigSource over a Hugging Face folder: config.json, and the shapes of the tensors beside it.
#pragma once

#include <functional>
#include <string>

#include "rml/io/json.h"
#include "rml/models/config_source.h"

namespace rml::models {

class HuggingFaceConfig final : public ConfigSource {
 public:
  using ShapeOf = std::function<std::optional<core::Shape>(std::string_view tensor)>;

  // `config` is the parsed config.json. A model with several parts keeps its language model's
  // numbers in "text_config", which is then read in its place.
  HuggingFaceConfig(std::string file_name, io::Json config, ShapeOf shape_of);

  core::Expected<std::string> ModelType() const;

  ConfigFormat format() const override { return ConfigFormat::kHuggingFace; }
  std::string_view file_name() const override { return file_name_; }
  core::Expected<std::optional<int64_t>> FindInt(ConfigKey key) const override;
  core::Expected<std::optional<double>> FindFloat(ConfigKey key) const override;
  core::Expected<std::optional<bool>> FindBool(ConfigKey key) const override;
  core::Expected<std::optional<std::string>> FindString(ConfigKey key) const override;
  core::Expected<std::optional<std::vector<std::string>>> FindStrings(ConfigKey key) const override;
  core::Expected<std::optional<std::vector<int64_t>>> FindInts(ConfigKey key) const override;
  std::optional<core::Shape> TensorShape(ConfigKey tensor) const override {
    return shape_of_(tensor.hugging_face);
  }

 private:
  template <typename T>
  core::Expected<std::optional<T>> Find(ConfigKey key) const;

  std::string file_name_;
  io::Json config_;
  ShapeOf shape_of_;
};

}  // namespace rml::models
