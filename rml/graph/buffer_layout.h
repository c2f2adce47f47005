// BufferLayout: places in one block of memory for values that live at different times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rml::graph {

struct Lifetime {
  int64_t bytes = 0;
  int first = 0;  // the step that writes it
  int last = 0;   // the last step that reads it
};

struct BufferLayout {
  std::vector<int64_t> offsets;  // aligned to 64 bytes
  int64_t bytes = 0;             // of the block
};

// Largest first, each at the lowest place where nothing that lives at the same time stands
// (Pisarchyk and Lee 2020, "greedy by size").
BufferLayout LayOut(std::span<const Lifetime> values);

}  // namespace rml::graph
