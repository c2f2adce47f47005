// Windows that together cover an axis: the taps of adaptive_avg_pool.
#include "rml/ops/resample.h"

namespace rml::ops {
namespace {

AxisTaps AdaptiveTaps(const ir::OpCall&, int, int64_t in, int64_t out) {
  AxisTaps taps(static_cast<size_t>(out));
  for (int64_t o = 0; o < out; ++o) {
    const int64_t begin = o * in / out;
    const int64_t end = ((o + 1) * in + out - 1) / out;
    for (int64_t i = begin; i < end; ++i)
      taps[static_cast<size_t>(o)].push_back({i, 1 / static_cast<double>(end - begin)});
  }
  return taps;
}

}  // namespace

Resampling AdaptivePoolForm() {
  return {.forward = "adaptive_avg_pool",
          .gradient = "adaptive_avg_pool_grad",
          .taps = AdaptiveTaps,
          .cases = {{{1, 1, 1}, {1, 1, 1}},
                    {{2, 3, 7}, {2, 3, 3}},
                    {{1, 2, 5, 4}, {1, 2, 2, 4}},
                    {{1, 2, 3}, {1, 2, 5}},
                    {{1, 1, 3, 2, 5}, {1, 1, 2, 1, 3}},
                    {{0, 2, 4}, {0, 2, 2}}}};
}

}  // namespace rml::ops
