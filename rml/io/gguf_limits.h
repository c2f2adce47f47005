// What reader and writer of GGUF agree on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rml::io {

constexpr std::string_view kGgufAlignmentKey = "general.alignment";
constexpr uint32_t kGgufDefaultAlignment = 32;
constexpr int kGgufMaxDims = 4;
constexpr size_t kGgufMaxKeyBytes = 65535;

}  // namespace rml::io
