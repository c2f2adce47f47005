#include "rml/models/hugging_face_config.h"

#include <utility>

namespace rml::models {

using core::Expected;

HuggingFaceConfig::HuggingFaceConfig(std::string file_name, io::Json config, ShapeOf shape_of)
    : file_name_(std::move(file_name)), config_(std::move(config)), shape_of_(std::move(shape_of)) {
  if (const io::Json* text = config_.Find("text_config"); text != nullptr && text->is_object()) {
    io::Json inner = *text;
    config_ = std::move(inner);
  }
}

Expected<std::string> HuggingFaceConfig::ModelType() const {
  auto type = config_.Get<std::string>("model_type");
  if (!type.ok()) return type.status().WithContext(file_name_);
  return type;
}

template <typename T>
Expected<std::optional<T>> HuggingFaceConfig::Find(ConfigKey key) const {
  std::string_view rest = key.hugging_face;
  if (rest.empty()) return std::optional<T>();
  const io::Json* value = &config_;
  while (value != nullptr && !rest.empty()) {
    const size_t dot = rest.find('.');
    value = value->Find(rest.substr(0, dot));
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  if (value == nullptr || value->is_null()) return std::optional<T>();
  auto typed = value->As<T>();
  if (!typed.ok())
    return typed.status().WithContext(core::StrCat(file_name_, ": key '", key.hugging_face, "'"));
  return std::optional<T>(*std::move(typed));
}

Expected<std::optional<int64_t>> HuggingFaceConfig::FindInt(ConfigKey key) const {
  return Find<int64_t>(key);
}
Expected<std::optional<double>> HuggingFaceConfig::FindFloat(ConfigKey key) const {
  return Find<double>(key);
}
Expected<std::optional<bool>> HuggingFaceConfig::FindBool(ConfigKey key) const {
  return Find<bool>(key);
}
Expected<std::optional<std::string>> HuggingFaceConfig::FindString(ConfigKey key) const {
  return Find<std::string>(key);
}
Expected<std::optional<std::vector<std::string>>> HuggingFaceConfig::FindStrings(
    ConfigKey key) const {
  return Find<std::vector<std::string>>(key);
}
Expected<std::optional<std::vector<int64_t>>> HuggingFaceConfig::FindInts(ConfigKey key) const {
  return Find<std::vector<int64_t>>(key);
}

}  // namespace rml::models
