// Shapes of well-known models, by the names people call them: benchmarks and plans of a model need
// its sizes, not its weights. Numbers are those of each vendor's published config.json.
#pragma once

#include <span>
#include <string_view>

#include "rml/core/expected.h"
#include "rml/models/decoder_spec.h"

namespace rml::models {

struct KnownShape {
  std::string_view name;  // "llama-3.2-1b"
  DecoderSpec (*make)();
};

std::span<const KnownShape> KnownShapes();

// An unknown name is an error that lists the known ones.
core::Expected<DecoderSpec> FindKnownShape(std::string_view name);

}  // namespace rml::models
