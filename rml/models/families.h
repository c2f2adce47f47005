// The decoder families that rml knows. A family is one row: its names in both file formats, and one
// function that reads a DecoderSpec from either.
#pragma once

#include <span>
#include <string_view>

#include "rml/core/expected.h"
#include "rml/models/config_source.h"
#include "rml/models/decoder_spec.h"

namespace rml::models {

struct Family {
  std::string_view name;                                 // also GGUF's general.architecture
  std::span<const std::string_view> hugging_face_types;  // config.json's model_type
  core::Status (*read)(const ConfigSource& source, DecoderSpec* spec);
};

std::span<const Family> Families();

// Reads the spec of the family called `architecture` in the source's format, and validates it. An
// unknown family is an Unsupported error that lists the known ones.
core::Expected<DecoderSpec> ReadDecoderSpec(std::string_view architecture,
                                            const ConfigSource& source);

}  // namespace rml::models
