#include "rml/models/gguf_config.h"

#include <utility>

namespace rml::models {

using core::Expected;

Expected<GgufConfig> GgufConfig::Make(const io::GgufFile& file) {
  RML_ASSIGN(std::string architecture, file.Get<std::string>("general.architecture"));
  return GgufConfig(file, std::move(architecture));
}

template <typename T>
Expected<std::optional<T>> GgufConfig::Find(ConfigKey key) const {
  if (key.gguf.empty()) return std::optional<T>();
  const std::string name = core::StrCat(architecture_, ".", key.gguf);
  if (!file_->Has(name)) return std::optional<T>();
  RML_ASSIGN(T value, file_->Get<T>(name));
  return std::optional<T>(std::move(value));
}

Expected<std::optional<int64_t>> GgufConfig::FindInt(ConfigKey key) const {
  return Find<int64_t>(key);
}
Expected<std::optional<double>> GgufConfig::FindFloat(ConfigKey key) const {
  auto found = Find<double>(key);
  if (found.ok()) return found;
  const auto whole = Find<int64_t>(key);  // a length, which elsewhere is written as a float
  if (!whole.ok()) return found;
  return std::optional<double>(static_cast<double>(**whole));
}
Expected<std::optional<bool>> GgufConfig::FindBool(ConfigKey key) const { return Find<bool>(key); }
Expected<std::optional<std::string>> GgufConfig::FindString(ConfigKey key) const {
  return Find<std::string>(key);
}
Expected<std::optional<std::vector<std::string>>> GgufConfig::FindStrings(ConfigKey key) const {
  return Find<std::vector<std::string>>(key);
}
Expected<std::optional<std::vector<int64_t>>> GgufConfig::FindInts(ConfigKey key) const {
  return Find<std::vector<int64_t>>(key);
}

std::optional<core::Shape> GgufConfig::TensorShape(ConfigKey tensor) const {
  const io::GgufTensorInfo* found = file_->FindTensor(tensor.gguf);
  if (found == nullptr) return std::nullopt;
  return found->shape;
}

}  // namespace rml::models
