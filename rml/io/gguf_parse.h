// Parses one GGUF part that is wholly in memory. Internal to gguf*.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rml/io/gguf.h"
#include "rml/io/gguf_limits.h"

namespace rml::io {

// What each part of a model says of the whole.
inline constexpr std::string_view kSplitNumber = "split.no";              // u16, from 0
inline constexpr std::string_view kSplitCount = "split.count";            // u16
inline constexpr std::string_view kSplitTensors = "split.tensors.count";  // i32, of all parts

struct GgufPart {
  uint32_t version = 0;
  uint32_t alignment = kGgufDefaultAlignment;
  std::vector<GgufEntry> entries;
  std::vector<uint32_t> entries_by_key;  // positions in `entries`, in the order of their keys
  std::vector<GgufTensorInfo> tensors;   // names are unique within the part

  const GgufValue* Find(std::string_view key) const;
};

core::Expected<GgufPart> ParseGgufPart(std::span<const std::byte> bytes, std::string_view name);

}  // namespace rml::io
