// Byte counts for people: "873 B", "64.0 KiB", "1.21 GiB". For messages and tables, never for
// files.
#pragma once

#include <cstdint>
#include <string>

namespace rml::core {

std::string FormatBytes(int64_t bytes);

}  // namespace rml::core
