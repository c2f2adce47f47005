#include "rml/graph/buffer_layout.h"

#include <algorithm>
#include <numeric>

#include "rml/core/checked_math.h"

namespace rml::graph {

BufferLayout LayOut(std::span<const Lifetime> values) {
  constexpr int64_t kAlign = 64;
  BufferLayout layout;
  layout.offsets.resize(values.size());
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return values[a].bytes > values[b].bytes; });

  std::vector<size_t> placed;  // in the order of their offsets
  for (const size_t i : order) {
    const Lifetime& value = values[i];
    const int64_t bytes = core::RoundUp<int64_t>(value.bytes, kAlign);
    int64_t offset = 0;
    for (const size_t other : placed) {
      const Lifetime& there = values[other];
      if (there.last < value.first || there.first > value.last) continue;
      if (offset + bytes <= layout.offsets[other]) break;
      offset =
          std::max(offset, layout.offsets[other] + core::RoundUp<int64_t>(there.bytes, kAlign));
    }
    layout.offsets[i] = offset;
    layout.bytes = std::max(layout.bytes, offset + bytes);
    const auto place = std::ranges::upper_bound(
        placed, offset, {}, [&](size_t other) { return layout.offsets[other]; });
    placed.insert(place, i);
  }
  return layout;
}

}  // namespace rml::graph
