#include "rml/kernels/weight_matrix.h"

#include "rml/core/check.h"
#include "rml/core/checked_math.h"
#include "rml/quant/dequantize.h"

namespace rml::kernels {

core::Expected<WeightMatrix> WeightMatrix::Make(core::DType dtype, int64_t rows, int64_t cols,
                                                const void* data) {
  if (!quant::IsWeightDType(dtype)) {
    return core::Unsupported(
        "weight matrix: dtype ", core::Name(dtype),
        " has no matrix kernels; convert it to f32, f16, bf16 or a block type");
  }
  if (rows < 0 || cols < 0) {
    return core::InvalidArgument("weight matrix: shape [", rows, ", ", cols, "] is negative");
  }
  const auto row_bytes = core::StorageBytes(dtype, cols);
  int64_t total = 0;
  if (!row_bytes) {
    return core::InvalidArgument("weight matrix: ", cols, " columns are no whole number of ",
                                 core::Name(dtype), " blocks of ",
                                 core::Info(dtype).block_elements);
  }
  if (!core::CheckedMul(*row_bytes, rows, &total)) {
    return core::InvalidArgument("weight matrix: shape [", rows, ", ", cols, "] is too large");
  }
  if (data == nullptr && total != 0) {
    return core::InvalidArgument("weight matrix: no data for shape [", rows, ", ", cols, "]");
  }
  WeightMatrix matrix;
  matrix.dtype_ = dtype;
  matrix.rows_ = rows;
  matrix.cols_ = cols;
  matrix.row_bytes_ = *row_bytes;
  matrix.data_ = static_cast<const std::byte*>(data);
  return matrix;
}

core::Status WeightMatrix::Prepare(core::ThreadPool&) { return core::OkStatus(); }

void DequantizeRow(const WeightMatrix& weight, int64_t row, float* out) {
  RML_CHECK(row >= 0 && row < weight.rows());
  const auto* bytes = static_cast<const std::byte*>(weight.data());
  quant::Dequantize(weight.dtype(), bytes + row * weight.row_bytes(), weight.cols(), out);
}

}  // namespace rml::kernels
