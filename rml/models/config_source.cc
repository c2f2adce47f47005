#include "rml/models/config_source.h"

namespace rml::models {

using core::Expected;

core::Status ConfigSource::Missing(ConfigKey key) const {
  return core::DataLoss(file_name(), ": the key '", Spelling(key),
                        "' is missing, which a model of this family must have");
}

Expected<int64_t> ConfigSource::Int(ConfigKey key) const {
  RML_ASSIGN(const auto found, FindInt(key));
  if (!found) return Missing(key);
  return *found;
}

Expected<int64_t> ConfigSource::Int(ConfigKey key, int64_t otherwise) const {
  RML_ASSIGN(const auto found, FindInt(key));
  return found.value_or(otherwise);
}

Expected<double> ConfigSource::Float(ConfigKey key) const {
  RML_ASSIGN(const auto found, FindFloat(key));
  if (!found) return Missing(key);
  return *found;
}

Expected<double> ConfigSource::Float(ConfigKey key, double otherwise) const {
  RML_ASSIGN(const auto found, FindFloat(key));
  return found.value_or(otherwise);
}

Expected<bool> ConfigSource::Bool(ConfigKey key, bool otherwise) const {
  RML_ASSIGN(const auto found, FindBool(key));
  return found.value_or(otherwise);
}

Expected<std::string> ConfigSource::String(ConfigKey key, std::string_view otherwise) const {
  RML_ASSIGN(auto found, FindString(key));
  return found ? std::move(*found) : std::string(otherwise);
}

}  // namespace rml::models
