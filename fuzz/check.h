// What the fuzzers share: a check that stays in every build, and a reader of all bytes of a range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

namespace rml::fuzz {

// A property that must hold for every input. Its violation is a finding.
inline void Require(bool condition, std::string_view what) {
  if (condition) return;
  std::fprintf(stderr, "property violated: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// Reads every byte, so that a view that leaves its buffer is seen by AddressSanitizer.
inline void Touch(std::span<const std::byte> bytes) {
  uint8_t sum = 0;
  for (const std::byte byte : bytes) sum = static_cast<uint8_t>(sum + static_cast<uint8_t>(byte));
  volatile uint8_t sink = sum;
  (void)sink;
}

inline void Touch(std::string_view text) {
  Touch(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace rml::fuzz
