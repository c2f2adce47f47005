// What this machine can do at most, measured in this process: the limits that kernels are held to.
#pragma once

#include "rml/core/expected.h"
#include "rml/core/thread_pool.h"

namespace rml::kernels {

// Operations a second count a multiplication and an addition as two; 0 where the ISA in use lacks
// the instruction. Bandwidths are bytes a second, of all threads together.
struct MachineLimits {
  double f32_flops = 0;   // fused multiply-adds
  double bf16_flops = 0;  // dot products of pairs
  double int8_ops = 0;    // dot products of four bytes
  double l2_read = 0;     // each thread from half its second-level cache
  double l3_read = 0;     // all threads from a third of the last level
  double read = 0;        // from memory
  double write = 0;       // to memory, streaming
  double copy = 0;        // from memory to memory: bytes read and written together
};

// `seconds` for each of them.
core::Expected<MachineLimits> MeasureLimits(core::ThreadPool& pool, double seconds = 0.05);

}  // namespace rml::kernels
