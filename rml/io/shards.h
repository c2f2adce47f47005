// How the tensors of a model are dealt to several files: in order, each file filled up to a size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rml::io {

// The index of each shard's first tensor. `bytes` are the tensors' sizes; a tensor larger than
// `max_shard_bytes` gets a shard of its own. No tensors make one shard, which is empty.
std::vector<size_t> ShardBegins(std::span<const uint64_t> bytes, uint64_t max_shard_bytes);

}  // namespace rml::io
