// Random orders: what permutations and choices without replacement share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rml/random/stream.h"

namespace rml::ops {

// 0 … size - 1, each order as likely as another.
std::vector<int64_t> RandomOrder(const random::Stream& stream, int64_t size);

// The same, where the next is chosen among the rest with probability weight / their sum (the order
// of log weight + Gumbel noise, largest first); places without weight are left out.
std::vector<int64_t> WeightedOrder(const random::Stream& stream, std::span<const double> weights);

}  // namespace rml::ops
