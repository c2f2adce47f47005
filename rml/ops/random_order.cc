#include "rml/ops/random_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rml::ops {

std::vector<int64_t> RandomOrder(const random::Stream& stream, int64_t size) {
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::vector<uint64_t> bits(order.size());
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = stream.Bits64(i);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    return bits[static_cast<size_t>(a)] < bits[static_cast<size_t>(b)];
  });
  return order;
}

std::vector<int64_t> WeightedOrder(const random::Stream& stream, std::span<const double> weights) {
  std::vector<int64_t> order;
  std::vector<double> score(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    order.push_back(static_cast<int64_t>(i));
    score[i] = std::log(weights[i]) + stream.Gumbel(i);
  }
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    return score[static_cast<size_t>(a)] > score[static_cast<size_t>(b)];
  });
  return order;
}

}  // namespace rml::ops
