#include "rml/cli/cache_folder.h"

#include <cstdlib>

namespace rml::cli {

std::string CacheFolder() {
  // The XDG specification: a relative path in the variable is ignored.
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && xdg[0] == '/') {
    return std::string(xdg) + "/rml";
  }
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr && home[0] != '\0' ? home : "/tmp") + "/.cache/rml";
}

}  // namespace rml::cli
