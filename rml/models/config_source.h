// ConfigSource: where a family's reader finds its numbers, whether the file is GGUF or a Hugging
// Face folder. A key has both spellings, so that a family is read by one function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"
#include "rml/core/shape.h"

namespace rml::models {

struct ConfigKey {
  std::string_view gguf;          // without the architecture in front: "embedding_length"
  std::string_view hugging_face;  // dots step into objects: "rope_scaling.factor"
};

enum class ConfigFormat : uint8_t { kGguf, kHuggingFace };

// Getters: nothing when the key is absent (or null, or has no spelling in this format), an error
// that names file and key when it is there and is of the wrong kind.
class ConfigSource {
 public:
  virtual ~ConfigSource() = default;

  virtual ConfigFormat format() const = 0;
  virtual std::string_view file_name() const = 0;

  virtual core::Expected<std::optional<int64_t>> FindInt(ConfigKey key) const = 0;
  virtual core::Expected<std::optional<double>> FindFloat(ConfigKey key) const = 0;
  virtual core::Expected<std::optional<bool>> FindBool(ConfigKey key) const = 0;
  virtual core::Expected<std::optional<std::string>> FindString(ConfigKey key) const = 0;
  // One string or number per layer.
  virtual core::Expected<std::optional<std::vector<std::string>>> FindStrings(
      ConfigKey key) const = 0;
  virtual core::Expected<std::optional<std::vector<int64_t>>> FindInts(ConfigKey key) const = 0;

  // The shape of a tensor by its name in the file; nothing when it is not there.
  virtual std::optional<core::Shape> TensorShape(ConfigKey tensor) const = 0;

  // What the getters build on: the same with a default, or with absence as an error.
  core::Expected<int64_t> Int(ConfigKey key) const;
  core::Expected<int64_t> Int(ConfigKey key, int64_t otherwise) const;
  core::Expected<double> Float(ConfigKey key) const;
  core::Expected<double> Float(ConfigKey key, double otherwise) const;
  core::Expected<bool> Bool(ConfigKey key, bool otherwise) const;
  core::Expected<std::string> String(ConfigKey key, std::string_view otherwise) const;
  bool HasTensor(ConfigKey tensor) const { return TensorShape(tensor).has_value(); }

  // The spelling of a key in this format, for messages.
  std::string_view Spelling(ConfigKey key) const {
    return format() == ConfigFormat::kGguf ? key.gguf : key.hugging_face;
  }

 private:
  core::Status Missing(ConfigKey key) const;
};

}  // namespace rml::models
