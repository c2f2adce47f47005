// Parses one safetensors file that is wholly in memory. Internal to safetensors*.cc.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "rml/io/safetensors.h"

namespace rml::io {

struct SafetensorsPart {
  SafetensorsFile::Metadata metadata;
  std::vector<SafetensorsTensor> tensors;  // names are unique within the part
};

core::Expected<SafetensorsPart> ParseSafetensorsPart(std::span<const std::byte> bytes,
                                                     std::string_view name);

}  // namespace rml::io
