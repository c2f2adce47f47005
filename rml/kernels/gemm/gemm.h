// C = A B in f32: the one product that `matmul`, `dot_general` and whatever lowers to them run.
//
//   c[i, j] (+)= sum over p of a[i, p] * b[p, j]        i < m, j < n, p < k
//
// A and B are matrices of f32, f16 or bf16 with any two strides, so that a transposed operand costs
// a different packing and no copy; products and sums are in f32. On a CPU with AVX512-BF16 products
// of two bf16 matrices take its instruction, which sums pairs and drops denormals. Matrices of i8
// or u8 give sums of 32 bits, exact in their low 8 (and in all 32 for i8); where a CPU has no VNNI,
// nothing multiplies them. The work is cut into chunks that
// depend on shapes alone, and each sum runs over p in order within blocks that depend on k alone:
// any number of threads gives the same bits. Blocking after Goto and van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication" (2008); README.md says which loop is where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "rml/core/dtype.h"

namespace rml::kernels {

// Element (i, j) is at data + (i * row_stride + j * column_stride) elements.
struct GemmMatrix {
  core::DType dtype = core::DType::kF32;
  const void* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 1;
};

// Called once for each part of C when its sums are final and still in cache: rows [row, row + rows)
// and columns [column, column + columns) are at c[i * ldc + j], c being the first of the part.
struct GemmEpilogue {
  void (*apply)(const void* context, float* c, int64_t ldc, int64_t row, int64_t column,
                int64_t rows, int64_t columns) = nullptr;
  const void* context = nullptr;
};

struct GemmSizes {
  int64_t m = 0, n = 0, k = 0;
};

struct GemmTarget;  // the loops for one ISA level

// B as the inner loop reads it, made once for many products. Remembers the ISA level it was made
// for.
class PackedMatrix {
 public:
  // b is [k, n]; the copy takes PackedBytes.
  PackedMatrix(const GemmMatrix& b, int64_t k, int64_t n, std::span<std::byte> space);
  static int64_t PackedBytes(core::DType dtype, int64_t k, int64_t n);

  const float* words() const { return words_; }
  const GemmTarget& target() const { return *target_; }

 private:
  const float* words_;
  const GemmTarget* target_;
};

struct GemmCall {
  GemmSizes sizes;
  GemmMatrix a;
  GemmMatrix b;                          // ignored where there is `packed`
  const PackedMatrix* packed = nullptr;  // of b
  float* c = nullptr;                    // 32-bit integers where a and b are bytes
  int64_t ldc = 0;
  bool accumulate = false;  // adds to what C holds
  GemmEpilogue epilogue;
};

// Whether this CPU multiplies matrices of this dtype.
bool HasGemm(core::DType dtype);

// How a product is cut for some threads. Where the cuts are changes no sum.
class GemmPlan {
 public:
  // Of a and b of one dtype, for which there is a GEMM; `packed` as in the call, or null.
  GemmPlan(core::DType dtype, const GemmSizes& sizes, const PackedMatrix* packed, int threads);

  // Whether b of few rows of a is best read in place: packing it would only cost memory.
  static bool ReadsInPlace(const GemmSizes& sizes, const GemmMatrix& b);

  int64_t chunks() const { return row_blocks_ * column_blocks_; }
  // Of each thread that runs chunks; no alignment is asked for.
  size_t scratch_bytes() const { return scratch_bytes_; }
  // The part of C that belongs to `chunk`. Needs m, n and k of at least 1.
  void Run(const GemmCall& call, int64_t chunk, std::span<std::byte> scratch) const;

 private:
  int64_t BlockWords(int64_t columns) const;  // of packed b

  const GemmTarget* target_;
  int64_t rows_, columns_, depth_;  // of a block
  int64_t row_blocks_, column_blocks_;
  size_t scratch_bytes_;
};

// The meaning, in one readable loop with f64 sums; what the tests compare with.
void GemmReference(const GemmCall& call);

}  // namespace rml::kernels
