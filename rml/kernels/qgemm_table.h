// The table of quantised kernels of one ISA level. Files compiled for an ISA fill one in, so this
// header holds plain structs and includes no standard C++.
#pragma once

#include <stdint.h>

#include "rml/kernels/qgemm_layout.h"

namespace rml::kernels {

// Types with one scale (and minimum) per 32 columns: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0.
struct Kernels32 {
  // y[r] (+)= w[r] · x for `rows` rows of `blocks` blocks and one row of activations.
  void (*gemv)(const uint8_t* w, int64_t row_bytes, int64_t rows, int64_t blocks,
               const Activations32& x, float* y, bool accumulate);
  void (*unpack)(const PanelSource& source, const Panel32& panel);
  // acc[i][16] (+)= panel · x for rows [0, m) of x, over `blocks` blocks from block `first_block`
  // on; `first` starts from zero. first_block is a multiple of 8.
  void (*gemm)(const Panel32& panel, int64_t first_block, int64_t blocks, int64_t total_blocks,
               const Activations32& x, int64_t m, float* acc, bool first);
};

// Types with integer scales per group within 256 columns: Q4_K, Q5_K, Q6_K.
struct Kernels256 {
  void (*gemv)(const uint8_t* w, int64_t row_bytes, int64_t rows, int64_t blocks,
               const Activations256& x, float* y, bool accumulate);
  void (*unpack)(const PanelSource& source, const Panel256& panel);
  void (*gemm)(const Panel256& panel, int64_t first_block, int64_t blocks, const Activations256& x,
               int64_t m, float* acc, bool first);
};

struct QuantKernels {
  // Rounds row i of m: x[cols] into the places of row i.
  void (*quantize32)(const float* x, int64_t cols, int64_t i, int64_t m, const Activations32& out);
  void (*quantize256)(const float* x, int64_t cols, int64_t i, int64_t m,
                      const Activations256& out);
  Kernels32 q4_0, q4_1, q5_0, q5_1, q8_0;
  Kernels256 q4_k, q5_k, q6_k;
};

extern const QuantKernels kQuantKernelsPortable;
#if defined(__x86_64__)
extern const QuantKernels kQuantKernelsAvx2;
extern const QuantKernels kQuantKernelsAvx512;
extern const QuantKernels kQuantKernelsAvx512Vnni;
#elif defined(__aarch64__)
QuantKernels MakeQuantKernelsNeon();
#endif

}  // namespace rml::kernels
