// WeightMatrix: a matrix [rows, cols] of weights as a model file stores it (row-major, rows of
// whole blocks), with what the kernels of the active ISA need to read it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rml/core/dtype.h"
#include "rml/core/expected.h"
#include "rml/core/thread_pool.h"

namespace rml::kernels {

class WeightMatrix {
 public:
  WeightMatrix() = default;

  // Borrows `data`: rows · StorageBytes(dtype, cols) bytes, aligned to 2 (4 for f32). dtype is f32,
  // f16, bf16 or one of the eight block types; anything else is an error.
  static core::Expected<WeightMatrix> Make(core::DType dtype, int64_t rows, int64_t cols,
                                           const void* data);

  // Brings the matrix into the form that the active ISA computes with fastest. Does nothing where
  // the file's own form serves (see README.md): then needs_source() stays true and the borrowed
  // bytes must live as long as the matrix.
  core::Status Prepare(core::ThreadPool& pool);

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  core::DType dtype() const { return dtype_; }
  const void* data() const { return data_; }
  int64_t row_bytes() const { return row_bytes_; }

  size_t packed_bytes() const { return 0; }
  bool needs_source() const { return true; }

 private:
  core::DType dtype_ = core::DType::kF32;
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  int64_t row_bytes_ = 0;
  const std::byte* data_ = nullptr;
};

// Row `row` of the matrix as f32: the look-up in an embedding table. out: [cols].
void DequantizeRow(const WeightMatrix& weight, int64_t row, float* out);

}  // namespace rml::kernels
