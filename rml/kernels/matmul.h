// y = x · Wᵀ for the weight matrices of a decoder: any of eleven dtypes, as a model file stores
// them.
//
// Shapes: x [m, cols] f32, W [rows, cols], y [m, rows] f32. Against quantised weights x is rounded
// to 8 bits per block (32 or 256 columns, one f32 scale each) and products are summed in integers
// within a block, in f32 across blocks. Which kernel runs depends on dtype, shape and ISA, never on
// the number of threads: the bits of y do not either. Nothing is allocated: scratch comes in as
// `workspace`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rml/core/thread_pool.h"
#include "rml/kernels/weight_matrix.h"

namespace rml::kernels {

struct MatMulTask {
  const WeightMatrix* weight = nullptr;
  float* y = nullptr;  // [m, weight->rows()], row stride y_stride (in floats)
  int64_t y_stride = 0;
  bool accumulate = false;  // y += instead of y =
};

// Scratch for MatMul with up to `max_m` rows of x and weights of up to `max_cols` columns, on a
// pool of `threads`. Alignment of the workspace does not matter.
size_t MatMulWorkspaceBytes(int64_t max_m, int64_t max_cols, int threads);

// All tasks read the same x (q, k, v; gate and up), so their weights have the same cols(). x is
// rounded once for all of them. x, the y's and workspace must not overlap.
void MatMul(std::span<const MatMulTask> tasks, const float* x, int64_t x_stride, int64_t m,
            std::span<std::byte> workspace, core::ThreadPool& pool);

}  // namespace rml::kernels
