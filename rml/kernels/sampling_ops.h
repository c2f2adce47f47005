// Reductions over a row of logits: what samplers, perplexity and log-probabilities need of a
// vocabulary. Results do not depend on how threads split anything: each runs on its caller.
#pragma once

#include <cstdint>

namespace rml::kernels {

// The index of the largest element, the first one of ties; NaNs are passed over. -1 when n is 0 or
// all are NaN.
int64_t Argmax(const float* x, int64_t n);

// The largest element; -infinity when n is 0. NaNs are passed over.
float Max(const float* x, int64_t n);

// log(sum of e^x[i]), from the largest element down; -infinity when n is 0 or all are -infinity.
float LogSumExp(const float* x, int64_t n);

int64_t ArgmaxReference(const float* x, int64_t n);
float LogSumExpReference(const float* x, int64_t n);

}  // namespace rml::kernels
