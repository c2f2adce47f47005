#include "rml/io/shards.h"

#include <algorithm>

namespace rml::io {

std::vector<size_t> ShardBegins(std::span<const uint64_t> bytes, uint64_t max_shard_bytes) {
  std::vector<size_t> begins = {0};
  uint64_t left = max_shard_bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > begins.back() && bytes[i] > left) {
      begins.push_back(i);
      left = max_shard_bytes;
    }
    left -= std::min(left, bytes[i]);
  }
  return begins;
}

}  // namespace rml::io
