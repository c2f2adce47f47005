// How fast this machine reads memory: the limit that decoding is measured against.
#pragma once

#include <cstddef>

#include "rml/core/expected.h"
#include "rml/core/thread_pool.h"

namespace rml::kernels {

struct BandwidthOptions {
  size_t bytes = size_t{256} << 20;  // of the buffer that is read; far more than the caches hold
  double seconds = 0.2;              // how long to measure
};

// Bytes per second that all threads of the pool read together from a buffer they share, each its
// own part in order; the best of the passes that fit in the time. Fails when the buffer cannot be
// had.
core::Expected<double> MeasureReadBandwidth(core::ThreadPool& pool,
                                            const BandwidthOptions& options = {});

}  // namespace rml::kernels
