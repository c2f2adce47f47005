// What `rml --version` prints: the version, the compiler, and the ISA level in use.
#pragma once

#include <string>

namespace rml::cli {

std::string VersionText();

}  // namespace rml::cli
