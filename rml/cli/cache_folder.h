// Where rml keeps what it fetched: $XDG_CACHE_HOME/rml, or ~/.cache/rml.
#pragma once

#include <string>

namespace rml::cli {

std::string CacheFolder();

}  // namespace rml::cli
