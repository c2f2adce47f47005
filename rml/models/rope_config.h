// Reads how a model rotates: base, rotated elements and scaling, from GGUF keys or config.json.
#pragma once

#include <string_view>

#include "rml/core/expected.h"
#include "rml/models/config_source.h"
#include "rml/models/decoder_spec.h"

namespace rml::models {

// `spec` has head_dim and context_length. Hugging Face spells the numbers in three ways: rope_theta
// with rope_scaling, rope_parameters (since transformers 5), or rope_parameters.<layer_type> in
// models with several. Layout is kHalves. An unknown kind of scaling is an Unsupported error.
core::Expected<RopeSpec> ReadRope(const ConfigSource& source, const DecoderSpec& spec,
                                  double default_base, std::string_view layer_type = {});

}  // namespace rml::models
